"""What the host is and what can be measured on it."""

from copycost.doctor.collect import collect_host, write_host
from copycost.hosts.facts.identity import host_identity

__all__ = ["collect_host", "host_identity", "write_host"]
