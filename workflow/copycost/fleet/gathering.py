"""All hosts of a fleet with their tables, and which of them say what holds of hosts in general."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from copycost.errors import CopycostError, DataError
from copycost.fleet.facts import Fleet
from copycost.fleet.host_facts import Told, told_by
from copycost.fleet.host_tables import HostTables, all_findings, read_tables, unmade_tables
from copycost.fleet.sets import HostSet, read_sets, state_of_name, unreadable_sets

_SIMULATED = "Simulated "
_COPIED_SHARE = 0.02
# of records that do not tell it
_NO_BOOT = frozenset({"", "unknown"})
_CELL = ("condition", "implementation", "msg_bytes", "n_threads")
_TOLD = {"cells": ("received_bytes", "window_s"), "trips": ("samples", "mean_ns")}
"""What of a repetition hardly ever is that of another one, by table."""


def gather(folder: Path, n_workers: int) -> Fleet:
    """Read all hosts of a fleet, making the tables of those that are new.

    Hosts that cannot be read any more, since they were changed by hand or are of another version,
    say, are left out; so are copies of another host, earlier states, and all but one of those that
    one kernel ran, as containers or nodes of one machine do. What an audit finds odd is
    told, and leaves nobody out: a host that was busy is still one.

    Raises
    ------
    DataError
        If no host is left.
    """
    sets, told, unreadable = _readable(folder, n_workers)
    if not sets:
        raise DataError(
            next(iter(unreadable.values()), None)
            or f"{folder}: no host was merged there; ./run merge FILE.zip adds what ./run export "
            "wrote"
        )
    tables = {one.name: read_tables(one) for one in sets}
    found = all_findings(sets, n_workers)
    findings = {one.name: of for one, of in zip(sets, found, strict=True)}
    copies = copied(tables)
    # an earlier state does not stand for a host whose last one cannot be read
    newest = dict(sorted(map(state_of_name, [*tables, *unreadable])))
    left_out: dict[str, str] = {}
    for one in sets:
        if one.name in copies:
            left_out[one.name] = "copied"
        elif one.state != newest[one.host]:
            left_out[one.name] = "older"
    one_kernel = _on_one_kernel({name: tables[name] for name in tables if name not in left_out})
    left_out |= dict.fromkeys(one_kernel, "one_kernel")
    used = [one.name for one in sets if one.name not in left_out]
    return Fleet(sets, used, left_out, tables, told, findings, copies, unreadable, one_kernel)


def _on_one_kernel(tables: Mapping[str, HostTables]) -> dict[str, str]:
    """Return hosts that share a boot with one of which more was measured, and with which."""
    measured = {name: of.cells[of.cells["status"] == "measured"] for name, of in tables.items()}
    of_boot: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in sorted(measured, key=lambda name: -len(measured[name])):
        boots = set(measured[name]["boot_id"].dropna()) - _NO_BOOT
        other = next((of_boot[boot] for boot in sorted(boots & of_boot.keys())), None)
        if other is not None:
            found[name] = other
        of_boot |= dict.fromkeys(boots - of_boot.keys(), other or name)
    return found


def _readable(
    folder: Path, n_workers: int
) -> tuple[list[HostSet], dict[str, Told], dict[str, str]]:
    """Return hosts whose tables are made and facts are read, these, and why others' are not."""
    sets, unreadable = read_sets(folder), unreadable_sets(folder)
    unreadable |= unmade_tables(sets, n_workers)
    told: dict[str, Told] = {}
    for one in sets:
        if one.name not in unreadable:
            try:
                told[one.name] = told_by(one)
            except (CopycostError, OSError) as error:
                unreadable[one.name] = str(error)
    return [one for one in sets if one.name in told], told, unreadable


def n_simulated(fleet: Fleet) -> int:
    """Return how many of the hosts that are used say that they are of tools/simulate_fleet.py."""
    processors = (str(fleet.told[name]["processor"]) for name in fleet.used)
    return sum(processor.startswith(_SIMULATED) for processor in processors)


def copied(tables: Mapping[str, HostTables]) -> dict[str, str]:
    """Return hosts that share repetitions with an earlier one, to the last byte, and with which.

    Two measurements of the same cell hardly ever move the same number of bytes in windows of the
    same length, or take the same mean time for as many round trips; that several do is no chance.
    """
    found: dict[str, str] = {}
    for study, told in _TOLD.items():
        rows = {name: getattr(of, study) for name, of in tables.items()}
        found = _sharing(rows, [*_CELL, *told]) | found
    return found


def _sharing(tables: Mapping[str, pd.DataFrame], columns: list[str]) -> dict[str, str]:
    """Return which hosts share rows of their tables with an earlier one, and with which."""
    parts = []
    for name, table in tables.items():
        rows = table[table["status"] == "measured"][columns]
        parts.append(rows.drop_duplicates().assign(host=name))
    rows = pd.concat(parts, ignore_index=True)
    first = rows.groupby(columns, sort=False)["host"].transform("first")
    again = rows[first != rows["host"]].assign(other=first)
    counts = rows["host"].value_counts()
    found: dict[str, str] = {}
    for host, same in again.groupby("host", sort=False):
        if len(same) > max(1, _COPIED_SHARE * int(counts[str(host)])):
            found[str(host)] = str(same["other"].mode().iloc[0])
    return found
