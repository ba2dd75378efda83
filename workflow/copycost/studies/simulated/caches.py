"""The caches that are simulated: this host's, or those that the configuration states."""

import itertools
from collections.abc import Mapping
from typing import Any

from copycost.errors import Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.studies.simulated.counts import LEVELS

_FOLDER = "sys/devices/system/cpu/cpu0/cache"
_STATE_THEM = "state simulated.caches in config.yaml"
# of a level whose ways the host does not tell, as virtual machines may not
_USUAL_WAYS = {"l1d": 8, "l2": 16, "llc": 16}

Caches = dict[str, dict[str, int]]
"""By level `size_bytes` and `ways`."""


def caches_of(
    section: Mapping[str, Any], host: Mapping[str, Any], files: HostFiles, factor: float = 1.0
) -> Caches:
    """Return the caches to simulate.

    `section` is that of the configuration, `host` knows the sizes, and `files` the ways. Every
    level's size is multiplied by `factor`; the ways stay. Raises `Unavailable` if they shall be the
    host's, and it does not tell them, or none that can be.
    """
    stated, _ = _stated(section, host, files)
    resized = {}
    for level, one in stated.items():
        # whole sets, one at least
        set_bytes = one["ways"] * section["line_bytes"]
        n_sets = max(1, round(one["size_bytes"] * factor / set_bytes))
        resized[level] = {"size_bytes": n_sets * set_bytes, "ways": one["ways"]}
    return resized


def assumed_of(
    section: Mapping[str, Any], host: Mapping[str, Any], files: HostFiles
) -> dict[str, list[str]]:
    """Return in what the caches with nothing changed are not those of the host.

    By `ways` the levels whose ways the host does not tell, so that usual ones are taken; by `sizes`
    those whose size is no whole number of sets, and rounded to one.
    """
    stated, guessed = _stated(section, host, files)
    caches = caches_of(section, host, files)
    rounded = [level for level in LEVELS if caches[level] != stated[level]]
    return {"ways": guessed, "sizes": rounded}


def _stated(
    section: Mapping[str, Any], host: Mapping[str, Any], files: HostFiles
) -> tuple[Caches, list[str]]:
    """Return the caches as configuration or host state them, and the levels with guessed ways."""
    if section["caches"] != "host":
        return section["caches"], []
    ways = _ways(files)
    known = host["cpu"]["caches"]
    missing = [level for level in LEVELS if known[f"{level}_bytes"] is None]
    if missing:
        why = f"this host does not tell the size of its {missing[0]} cache"
        raise Unavailable(why, _STATE_THEM)
    for inner, outer in itertools.pairwise(LEVELS):
        if known[f"{outer}_bytes"] < known[f"{inner}_bytes"]:
            why = f"this host tells a smaller {outer} cache than its {inner} cache"
            raise Unavailable(why, _STATE_THEM)
    stated = {
        level: {"size_bytes": known[f"{level}_bytes"], "ways": ways.get(level, _USUAL_WAYS[level])}
        for level in LEVELS
    }
    return stated, [level for level in LEVELS if level not in ways]


def _ways(files: HostFiles) -> dict[str, int]:
    """Return the ways of the host's data caches, as far as it tells them."""
    by_level: dict[int, int] = {}
    for folder in files.glob(f"{_FOLDER}/index*"):
        level = files.number(f"{folder}/level")
        ways = files.number(f"{folder}/ways_of_associativity")
        if level and ways and files.text(f"{folder}/type") != "Instruction":
            by_level[level] = ways
    # where there are two levels, the second is the last one too
    numbers = {"l1d": 1, "l2": 2, "llc": max(by_level, default=0)}
    return {name: by_level[level] for name, level in numbers.items() if level in by_level}
