"""A guest that failed while it was needed, and what helps."""

from copycost.errors import AttemptFailed

FRESH = "delete the record and run again: the next repetition gets a fresh guest"
SILENT = f"{FRESH}; if that one is not up in time either, raise virtual.memory_mib in config.yaml"
MORE_MEMORY = "raise virtual.memory_mib in config.yaml, then delete the record and run again"


class GuestFailed(AttemptFailed):
    """A guest did not come up, ended, or has no room, while something was measured in it."""


def guest_failed(reason: str) -> GuestFailed:
    """Return the failure of a guest of which a reason is known, with the remedy for that."""
    if "ran out of memory" in reason:
        return GuestFailed(reason, MORE_MEMORY)
    return GuestFailed(reason, SILENT if "was not up within" in reason else FRESH)
