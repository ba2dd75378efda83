"""A guest that failed while it was needed, and what helps."""

from copycost.errors import HostError

FRESH = "delete the record and run again: the next repetition gets a fresh guest"
MORE_MEMORY = "raise virtual.memory_mib in config.yaml, then delete the record and run again"


class GuestFailed(HostError):
    """A guest did not come up, ended, or has no room, while something was measured in it.

    Attributes
    ----------
    reason, remedy : str
        One sentence each.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy


def guest_failed(reason: str) -> GuestFailed:
    """Return the failure of a guest of which a reason is known, with the remedy for that."""
    return GuestFailed(reason, MORE_MEMORY if "ran out of memory" in reason else FRESH)
