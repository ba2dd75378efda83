"""Adds the results of a host to a fleet: what is there already stays, what is new comes to it."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from copycost.errors import DataError
from copycost.fleet.parcel import Parcel
from copycost.fleet.sets import (
    HostSet,
    describe,
    folder_of,
    read_facts,
    read_sets,
    write_facts,
)
from copycost.grid.cells import Cell
from copycost.records.record import Record, cell_of, host_digest, record_text
from copycost.studies.memory.record import memory_text
from copycost.wording.changes import changes_between

RUN = 1000
"""Repetitions of a further run of a host are numbered from here on, 2000, ..."""

_MOST_CHANGES = 20


@dataclass(frozen=True)
class Merged:
    """What became of the results of one host.

    Attributes
    ----------
    into
        The set that they are in now.
    n_added, n_replaced, n_known
        Records that are new, that took the place of older ones, and that were there [count].
    is_new_state
        Whether the host had been merged before, in another state.
    """

    into: HostSet
    n_added: int
    n_replaced: int
    n_known: int
    is_new_state: bool


def merge(parcel: Parcel, fleet: Path) -> Merged:
    """Add a host's results to a fleet.

    A host is in one of its states where nothing of its identity has changed. Records of a run that
    is there already, or of an earlier state of its results, are known by when they were measured:
    what was measured anew since takes the place of the old. Those of another run come behind all
    that are there, as further repetitions, its rounds together.

    Raises
    ------
    DataError
        If something cannot be read or written.
    """
    states = [one for one in read_sets(fleet) if one.host == parcel.name]
    same, changes = _state_of(states, parcel)
    if same is None:
        number = states[-1].state + 1 if states else 1
        same = HostSet(folder_of(fleet, parcel.name, number), parcel.name, number, changes, 0, "")
        shutil.rmtree(same.folder, ignore_errors=True)  # what a merge left half made
        write_facts(dict(parcel.host), same.folder / "host.json")
        there: list[Record] = []
    else:
        there = same.read_records()
    placed, n_known, n_replaced = _placed(there, parcel.records)
    digest = host_digest(read_facts(same.folder / "host.json"))
    for record in placed:
        _write(cast("Record", dict(record) | {"host_digest": digest}), same.folder)
    if parcel.config:
        write_facts(dict(parcel.config), same.folder / "config.json")
    if parcel.memory is not None:
        text = memory_text({**parcel.memory, "host_digest": digest}, "memory.json")
        (same.folder / "memory.json").write_text(text, encoding="utf-8")
    into = describe(same.folder, same.host, same.state, same.changes)
    return Merged(
        into, len(placed) - n_replaced, n_replaced, n_known, bool(states) and not there
    )  # fmt: skip


def _state_of(states: Sequence[HostSet], parcel: Parcel) -> tuple[HostSet | None, tuple[str, ...]]:
    """Return the state that the results are of, or what tells them from the last one."""
    changes: list[str] = []
    for state in states:
        changes = changes_between(state.facts()["identity"], parcel.host["identity"])
        if not changes:
            return state, ()
    more = len(changes) - _MOST_CHANGES
    return None, (*changes[:_MOST_CHANGES], *([f"and {more} more"] if more > 0 else []))


def _placed(there: Sequence[Record], records: Sequence[Record]) -> tuple[list[Record], int, int]:
    """Return the records to be written, with their repetitions; how many are known, and replace."""
    when = {_moment(one): one["cell"]["rep"] for one in there}
    by_cell = {cell_of(one): one for one in there}
    shared = [one for one in records if _moment(one) in when]
    if shared or not there:
        shift = when[_moment(shared[0])] - shared[0]["cell"]["rep"] if shared else 0
        new = [_shifted(one, shift) for one in records if _moment(one) not in when]
        # results that were merged before and have gone back since: the later measurement counts
        new = [one for one in new if _is_later(one, by_cell.get(cell_of(one)))]
        n_replaced = sum(cell_of(one) in by_cell for one in new)
        return new, len(records) - len(new), n_replaced
    taken = {_without_rep(cell) for cell in by_cell}
    meets = any(_without_rep(cell_of(one)) in taken for one in records)
    shift = -(-max(cell.rep for cell in by_cell) // RUN) * RUN if meets else 0
    return [_shifted(one, shift) for one in records], 0, 0


def _moment(record: Record) -> tuple[str, int, str]:
    return record["boot_id"], record["start_ns"], record["study"]


def _is_later(record: Record, old: Record | None) -> bool:
    return old is None or record["started_at"] > old["started_at"]


def _without_rep(cell: Cell) -> Cell:
    return replace(cell, rep=1)


def _shifted(record: Record, shift: int) -> Record:
    if shift == 0:
        return record
    cell: Mapping[str, object] = record["cell"] | {"rep": record["cell"]["rep"] + shift}
    return cast("Record", dict(record) | {"cell": dict(cell)})


def _write(record: Record, folder: Path) -> None:
    """Write a record where its cell belongs; ``set.json``, which comes last, tells it is whole."""
    path = folder / cell_of(record).path.removeprefix("results/")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text(record_text(record, path), encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: the record cannot be written ({error.strerror}); free or choose another disk"
            " and merge again: what is there stays"
        ) from error
