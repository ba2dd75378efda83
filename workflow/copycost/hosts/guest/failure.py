"""A guest that failed while it was needed, and what helps."""

from copycost.errors import AttemptFailed

FRESH = "delete the record and run again: the next repetition gets a fresh guest"
MORE_MEMORY = "raise virtual.memory_mib in config.yaml, then delete the record and run again"


class GuestFailed(AttemptFailed):
    """A guest did not come up, ended, or has no room, while something was measured in it."""


def guest_failed(reason: str) -> GuestFailed:
    """Return the failure of a guest of which a reason is known, with the remedy for that."""
    return GuestFailed(reason, MORE_MEMORY if "ran out of memory" in reason else FRESH)
