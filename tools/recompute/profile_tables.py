"""The tables of the chapter on where the CPU time goes, field by field."""

import math
import re
from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd
import yaml

from tools.recompute import estimates
from tools.recompute.account import Part, account, part, together
from tools.recompute.document import Table
from tools.recompute.fields import shows
from tools.recompute.functions import DATA, kind_of_function, plain
from tools.recompute.profile import Profile, Repetition, slug_of
from tools.recompute.run import Run
from tools.recompute.slots import agrees, ends_agree, percent_agrees

Row = Mapping[str, str]
Checked = Mapping[str, bool | None]

PARTIES = {
    "sender": "sender",
    "receiver": "receiver",
    "rest of the sender's guest": "sender_guest",
    "rest of the receiver's guest": "receiver_guest",
    "rest of the guest": "guest",
    "sender's qemu": "sender_qemu",
    "receiver's qemu": "receiver_qemu",
    "guest's qemu": "qemu",
    "qemu": "qemu",
}
"""By what a text calls them, in small letters."""

_WORK = {
    "copies": ("application's copy", "copy in the kernel", "deferred copy", "hypervisor's copy"),
    "exits and entries": ("exits and entries",),
    "events and wake-ups": ("events of the hypervisor", "wake-up and scheduling"),
    "emulator": ("emulator",),
}
"""Kinds of work by the column that has their sum."""
_SHOWN = 8
# of a sum: by so much it may differ from that of the same terms in another order
_LAST_PLACES = 1e-9
_SCENARIOS = {"vm_loopback": "vm-loopback", "vm_pair": "vm-to-vm"}


def category_row(run: Run, _c: str, found: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what a cell does: a kind of work."""
    cell = run.profile.cell(found[1])
    known: dict[str, bool | None] = {}
    columns = [title for title in row if title != "What"]
    for title, used in zip(columns[::2], columns[1::2], strict=True):
        side = title.partition("\u2019")[0].lower()
        here = [one for one in cell if side in one.stacks]
        shares = [one.own_shares(side)[row["What"]] for one in here]
        cpus = [share * one.sampled.cpus(side) for share, one in zip(shares, here, strict=True)]
        if any(shares):
            known[title] = _shows_percent(row[title], run.profile.share(shares), run, share=True)
        else:
            known[title] = row[title] == "0 %"
        known[used] = agrees("p", row[used], float(np.median(cpus)))
    return known


def around_row(run: Run, _c: str, found: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what is around the sides of a cell: a kind of work, or all of it."""
    cell = run.profile.cell(found[1])
    known: dict[str, bool | None] = {}
    for title in list(row)[1:]:
        here = [one for one in cell if PARTIES[title.lower()] in one.stacks]
        party = PARTIES[title.lower()]
        if row["What"].strip("*") == "of a CPU, all together":
            cpus = run.profile.estimate([one.sampled.cpus(party) for one in here])
            expected = cpus.within(here[0].key[3])
            known[title] = _shows_percent(row[title], expected, run, share=False)
            continue
        shares = [one.own_shares(party)[row["What"]] for one in here]
        if any(shares):
            known[title] = _shows_percent(row[title], run.profile.share(shares), run, share=True)
        else:
            known[title] = row[title] == "0 %"
    return known


def work_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what a party in guests, or a hypervisor, spent CPU time on [ns per KiB]."""
    where = r"`(\w+)` with ([\d.,]+ \w+) and (\d+) threads? on `([\w-]+)`"
    named = re.search(where, row["Cell"])
    assert named is not None
    name, size, threads, condition = named.groups()
    profile = run.profile
    cell = profile.cell(slug_of((condition, name, profile.size(size), int(threads))))
    party = PARTIES[row["Party"].lower()]
    costs = [_work_of(one, party) for one in cell if party in one.stacks]
    return {"Cell": True, "Party": True} | {
        title: shows(row[title], float(np.median([one[title] for one in costs])))
        for title in (*_WORK, "rest")
    }


def outside_work(cell: list[Repetition]) -> list[float]:
    """Return the shares of the CPU time of all hypervisors together, medians of repetitions."""
    shares = []
    for one in cell:
        parties = [party for party in one.stacks if party.endswith("qemu")]
        costs = np.sum([list(_work_of(one, party).values()) for party in parties], axis=0)
        shares.append(costs / costs.sum())
    return [float(share) for share in np.median(shares, axis=0)]


def _work_of(one: Repetition, party: str) -> dict[str, float]:
    """Return what a party spent on what this table tells apart [ns per KiB]."""
    shares = one.own_shares(party)
    found = {title: sum(shares[kind] for kind in kinds) for title, kinds in _WORK.items()}
    named = {kind for kinds in _WORK.values() for kind in kinds}
    found["rest"] = sum(share for kind, share in shares.items() if kind not in named)
    cost = one.sampled.ns_per_kib(party)
    return {title: share * cost for title, share in found.items()}


def _shows_percent(text: str, found: estimates.Estimate, run: Run, *, share: bool) -> bool:
    return percent_agrees(text, found, run.settings.resampling, share=share)


def account_row(run: Run, _c: str, found: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check a line of an account."""
    made = account(run.profile, run.profile.rounds(found[1]))
    title = row["Own CPU time per KiB [ns]"].strip("*")
    if title == "all CPU time":
        return _line(row, made.total)
    if title == "functions that no list names":
        return _line(row, made.unnamed)
    if opened := re.fullmatch(r"(\d+) other kinds? of work, change open", title):
        right = int(opened[1]) == len(made.open)
        return {**_line(row, together(made.open.values())), "Own CPU time per KiB [ns]": right}
    for group, name in ((made.grew, "grew"), (made.shrank, "shrank")):
        if title == f"{name}: all of these":
            return _line(row, together(group.values()))
        if title in group:
            return _line(row, group[title])
    raise LookupError(f"{title} is told to have changed")


def _line(row: Row, expected: Part) -> dict[str, bool | None]:
    before, after, change = list(row)[-3:]
    text, _, ends = row[change].partition(" (")
    right = agrees("d", text, expected.change.value)
    if ends:
        right = right and ends_agree(ends, expected.change, 0.0)
    return {
        before: agrees("d", row[before], expected.before),
        after: agrees("d", row[after], expected.after),
        change: right,
    }


def difference_row(run: Run, _c: str, found: re.Match[str], row: Row, table: Table) -> Checked:
    """Check which functions of a side changed most, and by how much."""
    side = found[2].replace("-", "_")
    rounds = run.profile.rounds(found[1])
    name = row["Function"].strip("*")
    if name == "all functions":
        costs = [[one.sampled.ns_per_kib(side) for one in both] for both in rounds]
        return _line(row, part(run.profile, np.array(costs)))
    parts = functions(run.profile, rounds, side)
    shown = {tuple(each[:2]) for each in table.rows}
    if rest := re.fullmatch(r"(\d+) other functions?", name):
        others = [
            one
            for key, one in parts.items()
            if (f"`{plain(key)}`", kind_of_function(key)) not in shown
        ]
        right = int(rest[1]) == len(others)
        return {**_line(row, together(others)), "Function": right}
    # a name may stand for two: what has none, in the emulator and elsewhere in a hypervisor
    named = [key for key in _most(parts) if f"`{plain(key)}`" == name]
    lines = [_line(row, parts[key]) for key in named if kind_of_function(key) == row["Category"]]
    if not lines:
        raise ValueError(f"{name} does {', '.join(map(kind_of_function, named))}")
    return next((line for line in lines if all(line.values())), lines[0])


def _most(parts: Mapping[str, Part]) -> list[str]:
    """Return the functions that may be among those that grew, or shrank, most.

    Those of one change are equals, and which of them is shown is not asked: sums of the same
    samples differ in their last place by the order in which they are added.
    """
    changes = {name: one.change.value for name, one in parts.items()}
    ranked = sorted(changes.values())
    edges = ranked[:_SHOWN][-1], ranked[-_SHOWN:][0]
    return [
        name
        for name, change in changes.items()
        if change <= edges[0]
        or change >= edges[1]
        or any(math.isclose(change, edge, rel_tol=_LAST_PLACES) for edge in edges)
    ]


def functions(
    profile: Profile, rounds: list[tuple[Repetition, Repetition]], side: str
) -> dict[str, Part]:
    """Return the change of each function of a side."""
    costs = [[one.own_costs(side) for one in both] for both in rounds]
    names = {name for both in costs for table in both for name in table}
    return {
        name: part(profile, np.array([[table[name] for table in both] for both in costs]))
        for name in names
    }


@cache
def _published() -> tuple[pd.DataFrame, dict[str, list[str]]]:
    rows = pd.read_csv(DATA / "published/function-shares.csv")
    tree = yaml.safe_load((DATA / "functions/chains.yaml").read_text(encoding="utf-8"))
    return rows, {name: one["names"] for name, one in tree["functions"].items()}


def chain_row(run: Run, condition: str, found: re.Match[str], row: Row, table: Table) -> Checked:
    """Check a published call chain and what it is here."""
    rows, names = _published()
    streams, size = int(found[2]), found[3]
    rows = rows[(rows["protocol"] == found[1]) & (rows["parallel_streams"] == streams)]
    # a run may profile what it measures nowhere else, `veth_udp` and not `veth`
    profiled = {one.key[0] for one in run.profile.repetitions}
    named = [one for one in profiled if f"chains-{one.replace('_', '-')}-" in found[0]]
    condition = max(named, key=len, default=condition)
    scenario = _SCENARIOS.get(condition.removesuffix("_udp"), "host-loopback")
    rows = rows[rows["scenario"] == scenario]
    if size:
        rows = rows[rows["datagram_bytes"] == int(size)]
    path = _path(row, table)
    side = PARTIES[row["Side"].lower()]
    sides = rows["side"].replace({"sender-guest": "sender", "receiver-guest": "receiver"})
    sides = sides.str.replace("-", "_")
    there = rows[(sides == side) & (rows["call_path"] == ";".join(path))]
    known: dict[str, bool | None] = {
        "Published": agrees("p", row["Published"], there["cpu_percent"].item() / 100)
    }
    for title in list(row)[3:]:
        words = re.fullmatch(r"`(\w+)`(?: \(.*\))?, (.*)", title)
        assert words is not None
        key = (condition, words[1], run.profile.size(words[2]), streams)
        here = [one for one in run.profile.repetitions if one.key == key]
        here = [one for one in here if side in one.stacks]
        cpus = [
            one.through(side, [names[each] for each in path]) * one.sampled.cpus(side)
            for one in here
        ]
        if any(cpus):
            expected = run.profile.estimate(cpus).within(streams)
            known[title] = _shows_percent(row[title], expected, run, share=False)
        else:
            known[title] = row[title] == "no counterpart"
    return known


def _path(row: Row, table: Table) -> list[str]:
    """Return the functions of a chain: the row's, within those above that have fewer dashes."""
    path: list[str] = []
    for cells in table.rows:
        name = cells[1]
        depth = name.count("\u2013 ")
        path = [*path[:depth], name.strip("\u2013 `")]
        if [*row.values()] == cells:
            return path
    raise LookupError("no such row")
