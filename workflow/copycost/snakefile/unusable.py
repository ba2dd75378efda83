"""Before a run: what lies in results and cannot be used is set aside, so that it is made again.

A record, the memory floor, what is known of this host and of others, what a pass chose: each costs
itself alone. Tables and figures are made of these. What failed with another machine or in a guest
is removed for the same: what was gone may be back.
"""

import json
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
from copycost.errors import DataError
from copycost.records.aside import LOST, reason_of, set_aside
from copycost.records.reading import ELSEWHERE, UNUSABLE
from copycost.records.record import host_digest
from copycost.snakefile import folder_lock, parts, terminal
from copycost.snakefile.host_change import HOST_PATH
from copycost.snakefile.internals import is_dry_run, is_first_process
from copycost.snakefile.outcomes import UNREADABLE, outcomes
from copycost.snakefile.retry import (
    CONFIG_PATH,
    GUEST_PATH,
    PEERS_PATH,
    asked_paths,
    describe,
)
from copycost.wording.words import plural

_MOST_SHOWN = 5


def set_aside_unusable(workflow: Any, config: Config) -> int:  # noqa: ANN401
    """Set aside what cannot be used, say so, and return how much it was; a dry run only says so."""
    if not is_first_process(workflow) or is_given():
        return 0
    looks = is_dry_run(workflow)
    with folder_lock.while_free() as is_free:
        found = dict(unusable(config)) if is_free or looks else {}
        back = [path for path, why in found.items() if why == _MAY_BE_BACK]
        found = {path: why for path, why in found.items() if why != _MAY_BE_BACK}
        for path in () if looks else back:
            path.unlink()
        for path, why in () if looks else found.items():
            set_aside(path, why)
        if is_free and not looks:
            parts.make_again()
    if back:
        n_files, be = plural(len(back), "file"), "would be" if looks else "are"
        terminal.say(f"copycost: {n_files} of what {_MAY_BE_BACK} {be} made again.")
    if found:
        terminal.clear_line()
        print(_said_of(found, would=looks), file=sys.stderr)
    return len(found)


def _said_of(found: dict[Path, str], *, would: bool) -> str:
    shown = [f"\n  {describe(path)}: {why}" for path, why in list(found.items())[:_MOST_SHOWN]]
    more = len(found) - len(shown)
    n_files, be = plural(len(found), "file"), "would be" if would else "are"
    return "".join(
        [
            f"copycost: {n_files} in results cannot be used; they {be} kept in results/aside, where"
            f" README says why, and {'' if would else 'are '}made again:",
            *shown,
            *([f"\n  and {more} more"] if more > 0 else []),
        ]
    )


def unusable(config: Config) -> Iterator[tuple[Path, str]]:
    """Yield what cannot be used of what a configuration asks for, each file with why."""
    others = (*sorted(PEERS_PATH.glob("*.json")), HOST_PATH, GUEST_PATH)
    for paths, read in (
        (
            sorted(Path("results/passes").glob("*.json")),
            lambda path: [Cell.from_path(record) for record in _object(path)["records"]],
        ),
        (others, _object),
        ([CONFIG_PATH], lambda path: dict(yaml.safe_load(path.read_text(encoding="utf-8")))),
    ):
        for path in paths:
            if path.is_file() and (why := _problem(read, path)):
                yield path, why
            elif path in others and path.is_file() and _has_failed(_object(path)):
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
    state = _state(Counter(states.values()))
    yield from ((path, ELSEWHERE) for path, its_state in states.items() if its_state != state)


_MAY_BE_BACK = "failed with another machine or in a guest"


def _state(known: Counter[str]) -> str | None:
    """Return the state of the host that most is of, or that described now, if anything is of it."""
    try:
        now = host_digest(_object(HOST_PATH))
    except UNUSABLE:
        now = ""
    return now if now in known else next((state for state, _ in known.most_common(1)), None)


def _is_away(path: Path) -> bool:
    """Return whether what a record is of needs another machine, or a guest."""
    try:
        return bool(away_on(Cell.from_path(str(path)).testbed))
    except DataError:  # the memory floor
        return False


def _has_failed(facts: dict[str, Any]) -> bool:
    """Return whether a machine could not be reached, or a guest not booted, when it was tried."""
    parts = (facts.get(part) or {} for part in ("wire", "virtual"))
    return any((part.get("unavailable") or {}).get("failed") for part in parts)


def _object(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _problem(read: Callable[[Path], object], path: Path) -> str | None:
    try:
        read(path)
    except (*UNUSABLE, yaml.YAMLError) as error:
        return reason_of(error, path)
    return None
