"""The caches that are simulated: this host's, or those that the configuration states."""

from collections.abc import Mapping
from typing import Any

from copycost.errors import Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.studies.simulated.counts import LEVELS

_FOLDER = "sys/devices/system/cpu/cpu0/cache"
# of a level whose ways the host does not tell, as virtual machines may not
_USUAL_WAYS = {"l1d": 8, "l2": 16, "llc": 16}

Caches = dict[str, dict[str, int]]
"""By level `size_bytes` and `ways`."""


def caches_of(
    section: Mapping[str, Any], host: Mapping[str, Any], files: HostFiles, factor: float = 1.0
) -> Caches:
    """Return the caches to simulate.

    Parameters
    ----------
    section
        The section `simulated` of the configuration.
    host
        The host facts, which know the sizes.
    files
        The host's files, which know the ways.
    factor
        What every level's size is multiplied by; the ways stay.

    Raises
    ------
    Unavailable
        If they shall be the host's, and it does not tell them.
    """
    stated = section["caches"]
    if stated == "host":
        ways = _ways(files)
        known = host["cpu"]["caches"]
        missing = [level for level in LEVELS if known[f"{level}_bytes"] is None]
        if missing:
            raise Unavailable(
                f"this host does not tell the size of its {missing[0]} cache",
                "state simulated.caches in config.yaml",
            )
        stated = {
            level: {
                "size_bytes": known[f"{level}_bytes"],
                "ways": ways.get(level, _USUAL_WAYS[level]),
            }
            for level in LEVELS
        }
    return {level: _resized(stated[level], factor, section["line_bytes"]) for level in LEVELS}


def _resized(level: Mapping[str, int], factor: float, line_bytes: int) -> dict[str, int]:
    """Return a level so many times as large, of whole sets, one at least."""
    set_bytes = level["ways"] * line_bytes
    n_sets = max(1, round(level["size_bytes"] * factor / set_bytes))
    return {"size_bytes": n_sets * set_bytes, "ways": level["ways"]}


def _ways(files: HostFiles) -> dict[str, int]:
    """Return the ways of the host's data caches, as far as it tells them."""
    by_level: dict[int, int] = {}
    for folder in files.glob(f"{_FOLDER}/index*"):
        level = files.number(f"{folder}/level")
        ways = files.number(f"{folder}/ways_of_associativity")
        if level and ways and files.text(f"{folder}/type") != "Instruction":
            by_level[level] = ways
    names = {1: "l1d", 2: "l2", max(by_level, default=0): "llc"}
    return {names[level]: ways for level, ways in by_level.items() if level in names}
