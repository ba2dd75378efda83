"""The tables of the study of CPU budgets, and what it shares with that of datagrams."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

import pandas as pd

from tools.recompute import budget
from tools.recompute.document import Table
from tools.recompute.driven import CURVE, POINT, SIDES, curves, named_rows
from tools.recompute.estimates import Estimate
from tools.recompute.functions import DATA
from tools.recompute.run import Run
from tools.recompute.slots import agrees, read

Row = Mapping[str, str]
Checked = dict[str, bool | None]

_PARTIES = {
    "Guest": "guest", "QEMU": "hypervisor", "virtual CPUs": "vcpu", "main loop": "io",
    "vhost": "vhost", "others": "worker", "overhead": "overhead", "waited": "vcpu_waiting",
}  # fmt: skip
_WHOSE = {
    "sender": "sender",
    "receiver": "receiver",
    "sender's guest": "sender_guest",
    "receiver's guest": "receiver_guest",
    "QEMU, sender's guest": "sender_hypervisor",
    "QEMU, receiver's guest": "receiver_hypervisor",
    "whole host": "host",
}
HERE = {
    "host-loopback": "loopback",
    "vm-loopback": "vm_loopback",
    "vm-to-vm-sender": "vm_pair",
    "vm-to-vm-receiver": "vm_pair",
}
"""Which testbed here stands next to a published scenario."""
_VARIANT = re.compile(r" \(((?:emulated|iperf3|our sender|limited)[^()]*)\)$")
INSIDE = {"sender": "client", "receiver": "server"}
"""What a published table calls the process of a side."""


def rows_of(run: Run, study: str, name: str) -> pd.DataFrame:
    """Return the repetitions of the curve that a text names."""
    curve = CURVE.search(name)
    assert curve is not None
    return named_rows(run.driven(study), curve[1], curve[2], curve[3] or "")


def shows_estimate(run: Run, text: str, found: Estimate, unit: float = 1.0) -> bool:
    """Tell whether a field shows a value with its interval: ``38.2 (37.0 to 39.4)``."""
    middle, _, ends = text.replace(" %", "").partition(" ")
    over = found.over(unit)
    if not agrees("x", middle, over.value):
        return False
    if not ends or "wide" in ends:
        return bool(ends) or over.n < 2
    return agrees("e", ends, over, run.settings.resampling)


def shows_cpu(text: str, percent: float) -> bool:
    """Tell whether a field shows a CPU use, of which all digits count: ``6.81 %``."""
    return agrees("x", text.removesuffix(" %"), percent)


def _from_to(text: str, values: Iterable[float]) -> bool:
    """Tell whether a field shows from where to where CPU use goes: ``12.0 to 38.0 %``."""
    known = [value for value in values if not pd.isna(value)]
    ends = text.removesuffix(" %").split(" to ")
    told = zip((ends[0], ends[-1]), (min(known), max(known)), strict=True)
    return all(agrees("x", end, value) for end, value in told)


# ---------------------------------------------------------------- both studies


def outside_row(
    run: Run, _c: str, _f: re.Match[str], row: Mapping[str, str], table: Table
) -> Checked:
    """Check what was used inside and outside at one point: medians [% of one CPU]."""
    study = "cpu_budget" if "Offered" in row else "datagrams"
    rows = rows_of(run, study, table.caption)
    sizes = sorted(rows["msg_bytes"].unique())
    offered = row.get("Offered")
    point = read("size", row["Size"], sizes) if offered is None else float(offered.split()[0])
    rows = rows[rows[POINT[study]] == point]
    shared = row["Guest of"] == "both"
    side = "sender" if shared else row["Guest of"]
    sides = SIDES if shared else (side,)
    told = row["Process"].split(" + ")
    used = [_percent(one, rows[name]) for one, name in zip(told, sides, strict=True)]
    parties = {title: f"{side}_{party}" for title, party in _PARTIES.items()} | {"Host": "host"}
    known: Checked = {
        "Offered" if "Offered" in row else "Size": len(rows) > 0,
        "Guest of": shared == bool(rows["shared"].any()),
        "Process": all(used),
    }
    return known | {
        title: _percent(row[title], rows[name]) for title, name in parties.items() if title in row
    }


def _percent(text: str, values: pd.Series) -> bool:
    """Tell whether a field shows the median; one that there is not is shown in words."""
    known = values.dropna()
    if known.empty:
        return not re.search(r"\d", text)
    return shows_cpu(text, known.median())


# ---------------------------------------------------------------- CPU budget


def costs_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what a byte cost one party at the highest bitrate of each curve [ns]."""
    checked: Checked = {}
    for title, text in row.items():
        if not CURVE.search(title) or not re.search(r"\d", text):
            continue
        rows = budget.top(rows_of(run, "cpu_budget", title))
        costs = rows[_WHOSE[row["CPU time"]]] / 100.0 * 8e9 / rows["bits_per_s"]
        checked[title] = shows_estimate(run, text, run.median_of(costs))
    return checked


def slopes_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check a line of bitrate over CPU use."""
    rows = rows_of(run, "cpu_budget", row["Where"])
    line = budget.line(rows, _WHOSE[row["Whose CPU"]], run.settings.confidence)
    slope = row["Gbit/s per % of a CPU"]
    if line is None or slope == "no line":
        right = line is None and slope == "no line"
        return dict.fromkeys(row, right)
    return {
        "Where": True,
        "Gbit/s per % of a CPU": shows_estimate(run, slope, line.slope, 1e9),
        "Gbit/s at no CPU": shows_estimate(run, row["Gbit/s at no CPU"], line.intercept, 1e9),
        "R²": agrees("d", row["R²"], line.explained)
        if "." in row["R²"]
        else agrees("x", row["R²"], line.explained),
        "Linear over": _from_to(row["Linear over"], line.cpu),
    }


def plan_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check which curve carries a bitrate with the least CPU, and with how much."""
    testbed = row["Testbed"].strip("`")
    every = list(budget.plans(run, testbed, float(row["Gbit/s"]) * 1e9))
    best = min(every, key=lambda plan: plan.total)
    emulated = "(emulated" in row["From"]
    known: Checked = {"Testbed": True, "Gbit/s": len(every) > 0}
    if row["Streams"] == "---":
        highest = max(plan.highest for plan in every)
        told = row["From"].removeprefix("highest measured: ").partition(" ")[0]
        right = best.basis == "beyond" and agrees("x", told, highest / 1e9)
        return known | {"Streams": right, "From": right and emulated == best.emulated}
    at_most = "at most " if best.basis == "the least point" else ""
    fields = [row["Sender's CPU"], row["Receiver's CPU"]]
    outside = row.get("QEMU's CPU", "---")
    fields += [] if outside == "---" else outside.split(" + ")
    shown = [
        text.startswith(at_most) and shows_estimate(run, text.removeprefix(at_most), need)
        for text, need in zip(fields, best.needs.values(), strict=True)
    ]
    return known | {
        "Streams": row["Streams"] == str(best.key["n_threads"]),
        "Sender's CPU": shown[0],
        "Receiver's CPU": shown[1],
        "QEMU's CPU": all(shown[2:]),
        "From": row["From"].partition(" (")[0] == best.basis and emulated == best.emulated,
    }


@cache
def published(transport: str) -> pd.DataFrame:
    """Return what others published of CPU and bitrate: over ``tcp`` or ``udp``."""
    return pd.read_csv(DATA / f"published/cpu-overhead-{transport}.csv")


def _scenario(row: Row) -> tuple[pd.Series, str]:
    """Return what was published of a scenario, and whose side it is."""
    rows = published("tcp")
    found = rows[
        (rows["scenario"] == row["Scenario"]) & (rows["parallel_streams"] == int(row["Streams"]))
    ]
    side = "receiver" if row["Scenario"].endswith("-receiver") else "sender"
    return found.iloc[0], side


def _ours(run: Run, row: Row) -> list[pd.DataFrame]:
    """Return the curves of this run that a published one is compared with."""
    testbed, n_threads = HERE[row["Scenario"]], int(row["Streams"])
    return [
        rows
        for key, rows in curves(run.driven("cpu_budget"))
        if (key["testbed"], key["n_threads"]) == (testbed, n_threads)
    ]


def each_shows(
    text: str, ours: list[pd.DataFrame], shows: Callable[[str, pd.DataFrame], bool]
) -> bool:
    """Tell whether a field shows something of each of our curves, or that there is none."""
    if not ours or text == "not measured":
        return not ours and text == "not measured"
    told = text.split("; ")
    variants = [_VARIANT.search(one) for one in told]
    emulated = [found is not None and "emulated" in found[1] for found in variants]
    values = [
        one[: found.start()] if found else one for one, found in zip(told, variants, strict=True)
    ]
    return len(told) == len(ours) and all(
        is_told == bool(rows["emulated"].any()) and shows(value, rows)
        for value, is_told, rows in zip(values, emulated, ours, strict=True)
    )


def published_budget_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check published slopes and highest bitrates, and ours next to them."""
    there, side = _scenario(row)
    ours = _ours(run, row)

    def slope(text: str, rows: pd.DataFrame) -> bool:
        line = budget.line(rows, side, run.settings.confidence)
        if line is None or text == "no line":
            return line is None and text == "no line"
        return shows_estimate(run, text, line.slope, 1e9)

    def most(text: str, rows: pd.DataFrame) -> bool:
        return agrees("x", text, budget.top(rows)["bits_per_s"].median() / 1e9)

    return {
        "Streams": True,
        "Gbit/s per %": agrees("x", row["Gbit/s per %"], there["gbps_per_cpu_percent"]),
        "here": each_shows(row["here"], ours, slope),
        "Most Gbit/s": agrees("x", row["Most Gbit/s"], there["max_bitrate_gbps"]),
        "Most Gbit/s, here": each_shows(row["Most Gbit/s, here"], ours, most),
    }


def _published_inside(there: pd.Series) -> dict[str, tuple[float, float]]:
    """Return from where to where the published processes' CPU use went, by side."""
    found = {
        side: (there[f"{name}_cpu_min_percent"], there[f"{name}_cpu_max_percent"])
        for side, name in INSIDE.items()
    }
    return {side: span for side, span in found.items() if not pd.isna(span[1])}


def _published_outside(there: pd.Series) -> tuple[float, float]:
    return there["qemu_cpu_min_percent"], there["qemu_cpu_max_percent"]


def published_outside_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check published CPU use inside and outside of guests, and ours next to it."""
    there, side = _scenario(row)
    ours = _ours(run, row)

    def spans(names: Iterable[str]) -> Callable[[str, pd.DataFrame], bool]:
        def shows(text: str, rows: pd.DataFrame) -> bool:
            medians = [rows.groupby("limit_percent")[name].median() for name in names]
            return all(map(_from_to, text.split(" + "), medians))

        return shows

    inside = SIDES if any(rows["shared"].any() for rows in ours) else (side,)
    used = _published_inside(there).values()
    told = row["Inside"].split(" + ")
    return {
        "Streams": True,
        "Inside": len(told) == len(used) and all(map(_from_to, told, used)),
        "here": each_shows(row["here"], ours, spans(inside)),
        "QEMU outside": _from_to(row["QEMU outside"], _published_outside(there)),
        "QEMU outside, here": each_shows(
            row["QEMU outside, here"], ours, spans([f"{side}_hypervisor"])
        ),
    }


def published_overhead(row: Row) -> Checked:
    """Check a published line of the table of what virtual machines cost."""
    found = re.fullmatch(r"published: ([\w-]+), (\d+) streams?", row["Guest"])
    assert found is not None
    there, _side = _scenario({"Scenario": found[1], "Streams": found[2]})
    used = _published_inside(there)
    told = dict(one.split(" ", 1) for one in row["processes"].split(", "))
    return {
        "Guest": True,
        "processes": told.keys() == used.keys()
        and all(_from_to(told[side], used[side]) for side in told),
        "hypervisor": _from_to(row["hypervisor"], _published_outside(there)),
    }
