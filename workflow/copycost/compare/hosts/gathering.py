"""All hosts of a fleet with their tables, and which of them say what holds of hosts in general."""

import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from copycost.compare.hosts.host_results import HostSet, read_all_sets, state_of_name
from copycost.compare.hosts.host_tables import HostTables, tables_of
from copycost.errors import CopycostError, DataError


@dataclass(frozen=True)
class Fleet:
    """All hosts with what was made of their records; the mappings are by their names.

    Of the `sets`, every state of every host, those that are `used` enter what is said of hosts in
    general: the last state of each, unless it is on the kernel of another, which `one_kernel`
    tells. Others are `left_out` as ``older`` or ``one_kernel``. Hosts that are `unreadable` by now
    are in none of the others, but here with why.
    """

    sets: Sequence[HostSet]
    used: list[str]
    left_out: Mapping[str, str]
    tables: Mapping[str, HostTables]
    one_kernel: Mapping[str, str]
    unreadable: Mapping[str, str] = field(default_factory=dict)


def gather(folder: Path) -> Fleet:
    """Read all hosts of a fleet, and make their tables, as many at a time as there are CPUs.

    Hosts that cannot be read any more, since they were changed by hand or are of another version,
    say, are left out; so are earlier states, and all but one of those that one kernel ran: nodes or
    containers of one machine, or copies of one host's results. What an audit finds odd is
    told, and leaves nobody out: a host that was busy is still one.
    """
    every, unreadable = read_all_sets(folder)
    n_workers = len(os.sched_getaffinity(0))
    with warnings.catch_warnings(), ProcessPoolExecutor(n_workers, get_context("fork")) as pool:
        # forked: nothing here has threads that hold locks, and nothing is imported anew
        warnings.simplefilter("ignore", DeprecationWarning)
        made = dict(zip((one.name for one in every), pool.map(_tables_or_why, every), strict=True))
    tables = {name: of for name, of in made.items() if isinstance(of, HostTables)}
    unreadable |= {name: why for name, why in made.items() if isinstance(why, str)}
    sets = [one for one in every if one.name in tables]
    if not sets:
        nobody = "no host was merged there; ./run merge FILE.zip adds what ./run export wrote"
        raise DataError(next(iter(unreadable.values()), f"{folder}: {nobody}"))
    # an earlier state does not stand for a host whose last one cannot be read
    newest = dict(sorted(map(state_of_name, [*tables, *unreadable])))
    left_out = {one.name: "older" for one in sets if one.state != newest[one.host]}
    one_kernel = _on_one_kernel({name: tables[name] for name in tables if name not in left_out})
    left_out |= dict.fromkeys(one_kernel, "one_kernel")
    used = [one.name for one in sets if one.name not in left_out]
    return Fleet(sets, used, left_out, tables, one_kernel, unreadable)


def _tables_or_why(one: HostSet) -> HostTables | str:
    """Return the tables of a host, or why it has none."""
    try:
        return tables_of(one)
    except (CopycostError, OSError) as error:
        return str(error)


def _on_one_kernel(tables: Mapping[str, HostTables]) -> dict[str, str]:
    """Return hosts that share a boot with one of which more was measured, and with which."""
    measured = {name: of.cells[of.cells["status"] == "measured"] for name, of in tables.items()}
    of_boot: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in sorted(measured, key=lambda name: -len(measured[name])):
        boots = set(measured[name]["boot_id"].dropna()) - {"", "unknown"}  # of those untold
        other = next((of_boot[boot] for boot in sorted(boots & of_boot.keys())), None)
        if other is not None:
            found[name] = other
        of_boot |= dict.fromkeys(boots - of_boot.keys(), other or name)
    return found
