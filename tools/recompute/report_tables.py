"""The tables of a report, field by field against the raw records.

Which number a field has to show follows from the title of its column and the entities of its row.
"""

import math
import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from tools.recompute import (
    datagrams_tables,
    driven_tables,
    elsewhere_tables,
    estimates,
    profile_tables,
    simulated_tables,
)
from tools.recompute.decisions import check_row
from tools.recompute.document import Table
from tools.recompute.estimates import Estimate
from tools.recompute.expectations import Case, fared
from tools.recompute.fields import Checked, Field, Row, shows, span, way_of
from tools.recompute.host_table import host_row
from tools.recompute.published import published_row
from tools.recompute.quality import bound, limit_in, quality_of
from tools.recompute.run import THROUGHPUT, Cell, Run
from tools.recompute.slots import agrees, read


def check(run: Run, condition: str, table: Table) -> list[list[Field]]:
    """Return, for each field of each row of a table, whether it is right."""
    for pattern, checked in _TABLES.items():
        if found := re.fullmatch(pattern, table.id):
            return [_fields(checked, run, condition, found, table, row) for row in table.rows]
    return [[None] * len(row) for row in table.rows]


def _fields(
    checked: Callable[..., Checked],
    run: Run,
    condition: str,
    found: re.Match[str],
    table: Table,
    cells: list[str],
) -> list[Field]:
    row = dict(zip(table.columns, cells, strict=True))
    try:
        known = checked(run, condition, found, row, table)
    except (LookupError, ValueError, StopIteration):  # it names what was not measured
        return [False] * len(cells)
    return [known.get(title) for title in table.columns]


def _cell_row(run: Run, condition: str, found: re.Match[str], row: Row, _: Table) -> Checked:
    name, size, threads = way_of(row), run.size(row["Message"]), int(found[1])

    def value(metric: str) -> Estimate:
        return run.median(condition, name, (size, threads), metric)

    throughput = value(THROUGHPUT)
    cost = next((title for title in row if title.endswith("per byte")), "")
    known = {
        "Message": not math.isnan(throughput.value),
        "Implementation": None,
        "Gbit/s": shows(row["Gbit/s"], throughput.value / 1e9),
        "interval": span(row["interval"], throughput, 1e9, run),
        "µs per message": shows(row["µs per message"], value("service_mean_ns").value / 1e3),
        "p50 [µs]": shows(row["p50 [µs]"], value("service_median_ns").value / 1e3),
        "p99 [µs]": shows(row["p99 [µs]"], value("service_p99_ns").value / 1e3),
        "n": row["n"].split(" of ")[0] == str(throughput.n),
    }
    if cost.split()[0] in ("cycles", "ns"):
        known[cost] = shows(row[cost], value(run.metric(condition, cost.split()[0])).value)
    if name != "two_copy":
        ratio = run.cells(condition, name, "two_copy").get((size, threads))
        known["ratio"] = shows(row["ratio"], ratio.value if ratio else math.nan)
    return known


def _ranking_row(run: Run, condition: str, _: re.Match[str], row: Row, table: Table) -> Checked:
    size = run.size(row["Message"])
    threads = int(re.findall(r"(\d+) threads?\)", table.caption)[0])
    metric = f"{run.side(condition)}_cpu_ns_per_byte"
    cost = run.median(condition, way_of(row), (size, threads), metric)
    places = {
        way_of(dict(zip(table.columns, other, strict=True))): 0
        for other in table.rows
        if other[0] == row["Message"]
    }
    return {
        "Message": not math.isnan(cost.value),
        "Place": row["Place"] == _place(run, condition, way_of(row), [*places], (size, threads)),
        "ns per byte": shows(row["ns per byte"], cost.value),
        "interval": span(row["interval"], cost, 1.0, run),
        "copies": shows(row["copies"], cost.value / floor(run, condition, size)[0])
        if "copies" in row
        else None,
        "n": row["n"] == str(cost.n),
    }


def floor(run: Run, condition: str, size: int) -> tuple[float, int]:
    """Return what a plain copy costs of what a copying send works on, and which size stands for it.

    The ring, or a message and its copy; the next larger size that was measured, or the largest.
    """
    rings = set(run.measured(condition)["ring_bytes"])
    points = run.memory["floor"]["points"]
    works_on = max(rings) or 2 * size
    point = next((one for one in points if one["bytes"] >= works_on), points[-1])
    return float(np.median(point["ns_per_byte"])), int(point["bytes"])


def _place(run: Run, condition: str, name: str, names: list[str], cell: Cell) -> str:
    """Return the places that the comparisons pair by pair leave open, Holm's correction made."""
    metric = f"{run.side(condition)}_cpu_ns_per_byte"
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    ratios = [run.cells(condition, a, b, metric).get(cell, Estimate(math.nan)) for a, b in pairs]
    corrected = estimates.holm(np.array([one.p_value for one in ratios]))
    cheaper = [
        (a, b) if one.value < 1 else (b, a)
        for (a, b), one, p_value in zip(pairs, ratios, corrected, strict=True)
        if p_value < 1 - run.settings.confidence
    ]
    first = 1 + sum(b == name for _, b in cheaper)
    last = len(names) - sum(a == name for a, _ in cheaper)
    return f"{first} to {last}" if first < last else f"{first}"


def _round_trip_row(run: Run, _c: str, found: re.Match[str], row: Row, _t: Table) -> Checked:
    trips = run.round_trips[run.round_trips["status"] == "measured"]
    trips = trips[trips["condition"].str.replace("_", "-") == found[1]]
    here = trips[
        (trips["implementation"] == way_of(row))
        & (trips["msg_bytes"] == run.size(row["Message"]))
        & (trips["n_threads"] == int(row.get("Threads", trips["n_threads"].min())))
    ]
    columns = {"p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns", "p99.9": "p999_ns"}
    columns["max"] = "max_ns"
    median = run.median_of(here["p50_ns"])
    known: dict[str, Field] = {
        title: shows(row[title], run.median_of(here[column]).value / 1e3)
        for title, column in columns.items()
        if row[title] != "---"
    }
    if row["interval"] != "---":
        known["interval"] = span(row["interval"], median, 1e3, run)
    known["round trips"] = row["round trips"] == f"{int(here['samples'].sum()):,}"
    known["n"] = row["n"].split(" of ")[0] == str(median.n if row["p50"] != "---" else len(here))
    return known | {"Message": len(here) > 0, "Threads": len(here) > 0}


def _memory_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    size = read("size", row["Working set"])
    point = next(one for one in run.memory["floor"]["points"] if one["bytes"] == size)
    shown = shows(row["ns per byte"], float(np.median(point["ns_per_byte"])))
    return {"Working set": True, "ns per byte": shown, "Level": None}


def _placement_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    name, size, threads = way_of(row), run.size(row["Message"]), int(row["Threads"])
    streams = row["Quantity"].lower().startswith("throughput")
    rows = run.streams if streams else run.round_trips
    metric, unit = (THROUGHPUT, 1e9) if streams else ("p50_ns", 1e3)
    rows = rows[
        (rows["status"] == "measured")
        & (rows["implementation"] == name)
        & (rows["msg_bytes"] == size)
        & (rows["n_threads"] == threads)
        & (rows["working_set"] == "hot")
        & (rows["receiver"] == "recv")
    ]
    by_round = rows.pivot_table(index="rep", columns=["testbed", "placement"], values=metric)
    place = row["Placement"].strip("`")
    placed = by_round.xs(place, axis="columns", level="placement")
    testbed = placed.columns[0]
    apart, here = by_round[testbed, "apart"], by_round[testbed, place]
    ratio = run.ratio(pd.Series(np.log(here / apart)))
    return {
        "Message": True,
        "Threads": True,
        "`apart`": shows(row["`apart`"].split(" ")[0], run.median_of(apart).value / unit),
        "median": shows(row["median"].split(" ")[0], run.median_of(here).value / unit),
        "ratio": shows(row["ratio"], ratio.value),
        "interval": span(row["interval"], ratio, 1.0, run),
    }


def _expectation_row(run: Run, condition: str, _: re.Match[str], row: Row, _t: Table) -> Checked:
    found = fared(run, condition, row["Expected"])
    known: dict[str, Field] = {
        "Expected": len(found.cases) > 0,
        "As expected": row["As expected"] == str(found.held),
        "No difference": row["No difference"] == str(found.open),
        "Against": row["Against"] == str(len(found.against)),
        "Strongest case against": row["Strongest case against"] == "none",
    }
    if found.against:
        case, ratio = found.strongest
        told, where = row["Strongest case against"].removeprefix("about ").split(": ")
        right = agrees("x", told, ratio.value) and names_case(run, where, case)
        known["Strongest case against"] = right
    return known


def names_case(run: Run, text: str, case: Case) -> bool:
    """Tell whether a text names a comparison: ```one_copy`, from 2 to 4 threads, 1 KiB``."""
    names = tuple(re.findall(r"`(\w+)`", text))
    sizes = read("sizes", text, run.all_sizes)
    threads = tuple(int(n) for n in re.findall(r"(?:(\d+) to )?(\d+) threads?", text)[0] if n)
    return (names, sizes, threads) == (case.names, case.sizes, case.threads)


def _quality_row(run: Run, condition: str, _: re.Match[str], row: Row, _t: Table) -> Checked:
    quality, check = quality_of(run, condition), row["Check"]
    values, broken = quality.values[check].dropna(), quality.broken[check]
    worst = values.min() if bound(check)[0] == "under" else values.max()
    kind = "p" if "%" in row["Worst value"] else "x"
    known: dict[str, Field] = {
        "Flagged if": limit_in(row["Flagged if"]) == bound(check),
        "Cells flagged": row["Cells flagged"] == str(int(broken.sum())),
        "Worst value": agrees(kind, row["Worst value"], worst),
        "In the cell": row["In the cell"] == "none" and not broken.any(),
    }
    if broken.any():
        name, size, threads = row["In the cell"].split(", ")
        cell = (name.strip("`"), run.size(size), int(threads.split()[0]))
        known["In the cell"] = bool(values[cell] == worst)
    flagged = quality.flagged.get(check)
    told = row["Verdicts changed without"]
    if flagged is None or not flagged.any():
        # a whole cell may be flagged, with no repetition to leave out
        known["Verdicts changed without"] = told == (
            "not to be told" if broken.any() else "none flagged"
        )
        return known
    found = quality.without(flagged)
    lost = found.once + found.none
    text = f"{found.changed} of {found.compared}" + (f", {lost} not to be told" if lost else "")
    known["Verdicts changed without"] = told == (text if found.compared else "not to be told")
    return known


def _run_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what the run was made of: when, how many, how long."""
    rows = run.streams
    if row["What"] == "Repetitions":
        status = list(rows["status"])
        counts = ", ".join(f"{status.count(s)} {s}" for s in ("measured", "failed", "skipped"))
        cells = rows[["condition", "implementation", "msg_bytes", "n_threads"]].drop_duplicates()
        return {"Value": row["Value"] == f"{len(rows)} of {len(cells)} cells: {counts}"}
    if row["What"] == "Measured":
        times = sorted(text[:19].replace("T", " ") for text in rows["started_at"].dropna())
        said = f"first repetition {times[0]}, last {times[-1]} (UTC)"
        return {"Value": row["Value"] == said}
    if row["What"] == "Time in windows":
        told = row["Value"].removesuffix(" that the repetitions took").split(", of ")
        known = [rows["window_s"].sum(), rows["wall_s"].sum()]
        return {"Value": all(map(_lasts, told, known))}
    return {}


def _lasts(text: str, expected: float) -> bool:
    """Tell whether a text has a duration: ``2.4 s``, ``3 min 29 s``, ``1 h 4 min``."""
    units = {"h": 3600.0, "min": 60.0, "s": 1.0}
    parts = re.findall(r"([\d.]+) (h|min|s)\b", text)
    told = sum(float(number) * units[unit] for number, unit in parts)
    number, unit = parts[-1]
    return abs(told - expected) <= 0.50005 * 10.0 ** -len(number.partition(".")[2]) * units[unit]


_TABLES: dict[str, Callable[..., Checked]] = {
    **simulated_tables.TABLES,
    **elsewhere_tables.TABLES,
    r"tbl-profile-account-(.*)": profile_tables.account_row,
    r"tbl-profile-difference-(.*?)-((?:sender|receiver|guest|qemu)(?:-guest|-qemu)?)": (
        profile_tables.difference_row
    ),
    r"tbl-profile-chains-.*-(tcp|udp)-(\d+)(?:-(\d+))?": profile_tables.chain_row,
    r"tbl-profile-around-(.*)": profile_tables.around_row,
    r"tbl-profile-(.*)": profile_tables.category_row,
    r"tbl-.*?(-round-trips)?-decision": check_row,
    r"tbl-.*-t(\d+)": _cell_row,
    r"tbl-.*-ranking": _ranking_row,
    r"tbl-(.*)-round-trips": _round_trip_row,
    r"tbl-memory": _memory_row,
    r"tbl-host": host_row,
    r"tbl-run": _run_row,
    r"tbl-placement": _placement_row,
    r"tbl-.*-quality": _quality_row,
    r"tbl-published-(.*)": published_row,
    r"tbl-.*-expectations": _expectation_row,
    r"tbl-virtual-work": profile_tables.work_row,
    r"tbl-budget-outside-.*|tbl-datagrams-.*-outside": driven_tables.outside_row,
    r"tbl-budget-costs": driven_tables.costs_row,
    r"tbl-budget-slopes": driven_tables.slopes_row,
    r"tbl-budget-plan": driven_tables.plan_row,
    r"tbl-budget-published": driven_tables.published_budget_row,
    r"tbl-budget-published-outside": driven_tables.published_outside_row,
    r"tbl-datagrams-published": datagrams_tables.published_datagrams_row,
    r"tbl-datagrams-here": datagrams_tables.here_row,
    r"tbl-datagrams-(?!.*-outside|missing).*": datagrams_tables.datagrams_row,
}
