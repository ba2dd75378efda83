"""What the host is and what can be measured on it."""

from copycost.cli.doctor.collect import collect_guest, collect_host
from copycost.cli.doctor.peer import collect_peer

__all__ = ["collect_guest", "collect_host", "collect_peer"]
