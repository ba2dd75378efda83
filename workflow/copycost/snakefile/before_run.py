"""Before a run: others are kept out of the folder, and what lies in results is looked at.

What cannot be used is set aside, so that it is made again: a record, the memory floor, what is
known of this host and of others, what a pass chose; each costs itself alone. Tables and figures are
made of these. What failed with another machine or in a guest is removed for the same: what was gone
may be back.

Which host the results are of stands in their description, results/host.json. What has to be
measured again on another one follows from Snakemake's notes: the identity of the host is a
parameter of the rule that describes it. Results that came from elsewhere without these notes are
never mixed with ours. Where all is measured again, the earlier results go to the fleet's folder.
"""

import fcntl
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.config.passes import is_given
from copycost.config.testbeds import away_on
from copycost.errors import CopycostError, DataError
from copycost.hosts.facts.identity import host_identity
from copycost.records.files import LOST, reason_of, set_aside
from copycost.records.reading import ELSEWHERE, UNUSABLE
from copycost.records.record import host_digest
from copycost.snakefile import placeholder_outputs, status_line
from copycost.snakefile.internals import is_dry_run, is_first_process
from copycost.snakefile.outcomes import UNREADABLE, outcomes
from copycost.snakefile.retry import asked_paths, describe
from copycost.snakefile.status_line import say
from copycost.wording.words import changes_between, plural

HOST_PATH = Path("results/host.json")
LOCK_PATH = Path(".snakemake/copycost.lock")

_MOST_SHOWN = 5
_MAY_BE_BACK = "failed with another machine or in a guest"


def _take_lock() -> int | None:
    """Return a descriptor, which holds the lock as long as it is open; None if another run does."""
    LOCK_PATH.parent.mkdir(exist_ok=True)
    fd = os.open(LOCK_PATH, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def lock_folder() -> None:
    """Keep other runs out of this folder until this process ends, however it ends.

    Snakemake's own lock is a file that a killed run leaves behind, and that has to be removed by
    hand; the kernel gives this one back. The default profile switches Snakemake's off.
    """
    fd = _take_lock()  # stays open to the end
    if fd is None:
        status_line.clear_line()
        sys.exit(
            "copycost: another run is at work in this folder (process "
            f"{LOCK_PATH.read_text(encoding='utf-8').strip()}); let it end, or use another clone"
        )
    os.ftruncate(fd, 0)
    os.write(fd, f"{os.getpid()}\n".encode())


def set_aside_unusable(workflow: Any, config: Config) -> None:  # noqa: ANN401
    """Set aside what cannot be used, and say so; a dry run only says so."""
    if not is_first_process(workflow) or is_given():
        return
    looks, lock = is_dry_run(workflow), _take_lock()
    be = "would be" if looks else "are"
    found = {} if lock is None and not looks else dict(unusable(config))
    lost = {path: why for path, why in found.items() if why != _MAY_BE_BACK}
    if lock is not None:
        if not looks:
            for path in found.keys() - lost.keys():
                path.unlink()
            for path, why in lost.items():
                set_aside(path, why)
            placeholder_outputs.remove()
        os.close(lock)
    if n_back := len(found) - len(lost):
        say(f"copycost: {plural(n_back, 'file')} of what {_MAY_BE_BACK} {be} made again.")
    if lost:
        shown = [f"  {describe(path)}: {why}" for path, why in list(lost.items())[:_MOST_SHOWN]]
        if more := len(lost) - len(shown):
            shown.append(f"  and {more} more")
        said = (
            f"copycost: {plural(len(lost), 'file')} in results cannot be used; they {be} kept in"
            f" results/aside, where README says why, and {'are ' if looks else ''}made again:"
        )
        status_line.clear_line()
        print(said, *shown, sep="\n", file=sys.stderr)


def unusable(config: Config) -> Iterator[tuple[Path, str]]:
    """Yield what cannot be used of what a configuration asks for, each file with why."""
    now = None
    for pattern, read in _READERS.items():
        for path in sorted(Path("results").glob(pattern)):
            try:
                content = read(path)
            except (*UNUSABLE, yaml.YAMLError) as error:
                yield path, reason_of(error, path)
            else:
                if path == HOST_PATH:
                    now = host_digest(content)
                if _has_failed(content):
                    yield path, _MAY_BE_BACK
    states: dict[Path, str] = {}
    for one in outcomes(asked_paths(config)):
        if one.status == UNREADABLE:
            yield one.path, str(one.reason)
        elif one.status == "failed" and str(one.reason).startswith(LOST):
            yield one.path, "it stands for one that was set aside"
        elif one.status == "failed" and _is_away(one.path):
            yield one.path, _MAY_BE_BACK
        elif one.host_digest is not None:
            states[one.path] = one.host_digest
    # that of the host as it is described now, if anything is of it, else of most
    known = Counter(states.values())
    state = now if now in known else max(known, key=known.__getitem__, default=None)
    yield from ((path, ELSEWHERE) for path, its_state in states.items() if its_state != state)


def _is_away(path: Path) -> bool:
    """Return whether what a record is of needs another machine, or a guest."""
    try:
        return bool(away_on(Cell.from_path(str(path)).testbed))
    except DataError:  # the memory floor
        return False


def _has_failed(content: dict[str, Any]) -> bool:
    """Return whether a machine could not be reached, or a guest not booted, when it was tried."""
    places = (content.get(name) for name in ("wire", "virtual"))
    missing = (place.get("unavailable") for place in places if isinstance(place, dict))
    return any(isinstance(one, dict) and one.get("failed") for one in missing)


def _object(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _sections(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def _chosen(path: Path) -> dict[str, Any]:
    return {"cells": [Cell.from_path(record) for record in _object(path)["records"]]}


# What a run reads besides records, below results.
_READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "passes/*.json": _chosen,
    "peers/*.json": _object,
    "host.json": _object,
    "guest.json": _object,
    "config.yaml": _sections,
}


def remark_on_host(*, described_anew: bool, measures: bool, would: bool) -> str | None:
    """Return a sentence where the results are of another host, None where they are of this one.

    It depends on whether the run will describe the host anew, on which every cell depends, and
    whether it will measure anything; `would` is as `keep_earlier` takes it.
    """
    changes = _changes_of_host()
    if not changes:
        return None
    said = f"copycost: this is not the host of the earlier results ({'; '.join(changes)})"
    if described_anew:
        return f"{said}, so every cell is measured again. {keep_earlier(would=would)}".rstrip()
    stay, why = ", and they stay as they are", "to measure this host"
    if measures:
        stay, why = "", "so that this host is measured alone"
    return f"{said}{stay}; remove {HOST_PATH} {why}, or use another clone"


def keep_earlier(*, would: bool) -> str:
    """Put the results so far among the hosts of the fleet; return what to say of that.

    Nothing is done, and nothing said, without measured repetitions of streams or round trips. With
    `would`, it only says what a run would do.
    """
    # Imported here: the records of most runs are of this host.
    from copycost.compare.hosts.host_results import FLEET, STUDIES
    from copycost.compare.hosts.import_archive import read_parcel
    from copycost.compare.hosts.merging import merge

    raw = HOST_PATH.parent / "raw"
    records = (path for study in STUDIES for path in (raw / study).rglob("rep=*.json"))
    if not any(one.status == "measured" for one in outcomes(records)):
        return ""
    if would:
        return f"The earlier streams and round trips would be kept in {FLEET}."
    try:
        into = merge(read_parcel(HOST_PATH.parent), FLEET, update=True).into
    except (CopycostError, OSError) as error:
        return f"The earlier results cannot be kept, and are overwritten: {error}"
    return f"The earlier streams and round trips are kept in {into.folder}."


def _changes_of_host() -> list[str]:
    """Return what tells this host from the one described; nothing without a description."""
    try:
        known = json.loads(HOST_PATH.read_text(encoding="utf-8"))["identity"]
        return changes_between(known, host_identity())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # no earlier run, or a file that the rule has to write again anyway
