"""What the host is and what can be measured on it."""

from copycost.doctor.collect import collect_host
from copycost.doctor.guest import collect_guest
from copycost.doctor.peer import collect_peer
from copycost.hosts.facts.identity import host_identity

__all__ = ["collect_guest", "collect_host", "collect_peer", "host_identity"]
