"""Adds the results of a host to a fleet: what is there already stays, what is new comes to it."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from copycost.compare.hosts.host_results import HostSet, describe, read_sets, state_of_name
from copycost.compare.hosts.import_archive import Parcel
from copycost.compare.hosts.privacy import without_private
from copycost.errors import CopycostError, DataError
from copycost.records.files import replaced_whole, write_json
from copycost.records.record import Record, cell_of, host_digest, record_text
from copycost.studies.memory.record import write_memory
from copycost.wording.words import changes_between, plural

RUN = 1000
"""Repetitions of a further run of a host are numbered from here on, 2000, ..."""

_MOST_CHANGES = 20


@dataclass(frozen=True)
class Merged:
    """What became of the results of one host: the set that they are in now.

    Records are new, took the place of older ones, or were there [count]; they may be of a further
    run than those that were there, and of a host that was merged before in another state.
    """

    into: HostSet
    n_added: int
    n_replaced: int
    n_known: int
    is_further_run: bool
    is_new_state: bool


def merge(parcel: Parcel, fleet: Path, *, update: bool = False) -> Merged:
    """Add a host's results to a fleet.

    A host is in one of its states where nothing of its identity has changed. Records of a run that
    is there already, or of an earlier state of its results, are known by when they were measured:
    what was measured anew since takes the place of the old. Those of another run come behind all
    that are there, as further repetitions, its rounds together.

    Anybody can give a host any name. So results that nobody vouches for add to what is there, and
    take the place of nothing that another source has brought. Whoever merges vouches by an
    `update`, or by giving the name.
    """
    vouched = update or parcel.naming == "given"
    source = str(Path(parcel.source).resolve())
    same, is_new_state = _state_of(parcel, fleet, source, vouched=vouched)
    try:
        there = same.read_records()
    except CopycostError as error:
        raise DataError(f"{parcel.source}: cannot be added to {same.name}: {error}") from error
    placed, n_replaced, is_further_run = _placed(there, parcel.records)
    if not vouched:
        _require_its_own(parcel, same, there, n_replaced)
    digest = host_digest(same.facts())
    for record in placed:
        # set.json, which comes last, tells that all are whole
        path = same.folder / cell_of(record).path.removeprefix("results/")
        text = record_text(cast("Record", {**record, "host_digest": digest}), path)
        with replaced_whole(path, "the record cannot be written", "what is there stays") as partial:
            partial.write_text(text, encoding="utf-8")
    if vouched or same.source == source:
        if parcel.config:
            write_json(parcel.config, same.folder / "config.json")
        if parcel.memory is not None:
            ours = {**parcel.memory, "host_digest": digest}
            write_memory(ours, same.folder / "memory.json")
        same = replace(same, source=source)
    n_known = len(parcel.records) - len(placed)
    n_added = len(placed) - n_replaced
    return Merged(describe(same), n_added, n_replaced, n_known, is_further_run, is_new_state)


def _state_of(parcel: Parcel, fleet: Path, source: str, *, vouched: bool) -> tuple[HostSet, bool]:
    """Return the state that the results are of, and whether it is a new one of a host there."""
    sets, unreadable = read_sets(fleet)
    for name, why in unreadable.items():
        if state_of_name(name)[0] == parcel.name:
            raise DataError(f"{parcel.source}: cannot be added to {name}: {why}")
    states = [one for one in sets if one.host == parcel.name]
    changes: list[str] = []
    for state in states:
        known = without_private(state.facts())["identity"]
        changes = changes_between(known, parcel.host["identity"])[:_MOST_CHANGES]
        if not changes:
            return state, False
    if states and not vouched:
        raise DataError(
            f"{parcel.source}: calls its host {parcel.name}, and {states[-1].folder} is of a host "
            f"of that name that is another ({'; '.join(changes)}); merge it with --update if that "
            f"one has changed, as OTHER={parcel.source} if it is another one"
        )
    number = states[-1].state + 1 if states else 1
    new = HostSet(fleet, parcel.name, number, tuple(changes), source=source)
    shutil.rmtree(new.folder, ignore_errors=True)  # what a merge left half made
    write_json(parcel.host, new.folder / "host.json")
    return new, bool(states)


def _require_its_own(
    parcel: Parcel, same: HostSet, there: Sequence[Record], n_replaced: int
) -> None:
    """Refuse results that may be another host's, or would replace what another source brought."""
    boots = {one["boot_id"] for one in there}
    new_boots = {one["boot_id"] for one in parcel.records}
    if parcel.naming == "made" and boots and boots.isdisjoint(new_boots):
        raise DataError(
            f"{parcel.source}: nobody has named its host, and {same.folder} is of one just like "
            "it, which may be the same after a restart, or its twin; merge it as "
            f"{same.host}={parcel.source} if it is the same, as OTHER={parcel.source} if not"
        )
    if n_replaced and same.source != str(Path(parcel.source).resolve()):
        raise DataError(
            f"{parcel.source}: {plural(n_replaced, 'record')} would take the place of what "
            f"another source brought to {same.folder}; merge it with --update if that host was "
            f"measured anew, as OTHER={parcel.source} if it is another one"
        )


def _placed(there: Sequence[Record], records: Sequence[Record]) -> tuple[list[Record], int, bool]:
    """Return the records to be written, how many replace others, and if they are a further run."""
    when = {_moment(one): one["cell"]["rep"] for one in there}
    by_cell = {cell_of(one): one for one in there}
    shared = [one for one in records if _moment(one) in when]
    if shared or not there:
        shift = when[_moment(shared[0])] - shared[0]["cell"]["rep"] if shared else 0
        new = [_shifted(one, shift) for one in records if _moment(one) not in when]
        # results that were merged before and have gone back since: the later measurement counts
        new = [
            one for one in new
            if (old := by_cell.get(cell_of(one))) is None or one["started_at"] > old["started_at"]
        ]  # fmt: skip
        n_replaced = sum(cell_of(one) in by_cell for one in new)
        return new, n_replaced, False
    taken = {replace(cell, rep=1) for cell in by_cell}
    meets = any(replace(cell_of(one), rep=1) in taken for one in records)
    shift = -(-max(cell.rep for cell in by_cell) // RUN) * RUN if meets else 0
    return [_shifted(one, shift) for one in records], 0, True


def _moment(record: Record) -> tuple[str, int, str]:
    return record["boot_id"], record["start_ns"], record["study"]


def _shifted(record: Record, shift: int) -> Record:
    cell = record["cell"] | {"rep": record["cell"]["rep"] + shift}
    return cast("Record", {**record, "cell": cell})
