"""What guests are, as one JSON object: what they are made of, and what a booted one says."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copycost.config.virtual import Virtual
from copycost.doctor.collect import collect_host
from copycost.hosts.guest.host import hosts_in
from copycost.hosts.guest.keeping import borrowed
from copycost.hosts.guest.making import settle
from copycost.hosts.guest.spec import GuestSpec


def collect_guest(
    virtual: Virtual, made: Mapping[str, Any], kernel: Path, initrd: Path
) -> dict[str, object]:
    """Describe guests.

    Parameters
    ----------
    virtual
        The section of the configuration.
    made
        What `make_image` said of kernel and first file system.

    Returns
    -------
    dict
        ``virtual``: see `settle`; where guests can be had, also what `collect_host` says of one.
    """
    settled = settle(virtual, made, kernel, initrd)
    if settled["unavailable"] is not None:
        return {"virtual": settled}
    spec = GuestSpec.from_plain(settled["spec"])
    with borrowed(spec, ["a"], network=False) as lease, hosts_in(lease) as (host,):
        return {"virtual": settled, **collect_host(host=host)}
