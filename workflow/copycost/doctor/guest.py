"""What guests are, as one JSON object: what they are made of, and what a booted one says."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copycost.config.virtual import Virtual
from copycost.hosts.guest.making import settle


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
        ``virtual``: see `settle`.
    """
    return {"virtual": settle(virtual, made, kernel, initrd)}
