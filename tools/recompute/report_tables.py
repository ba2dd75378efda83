"""The tables of a report, field by field against the raw records.

Which number a field has to show follows from the title of its column and the entities of its row.
"""

import math
import re
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.decisions import check_row
from tools.recompute.document import Table
from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT, Cell, Run
from tools.recompute.slots import VAGUE, agrees, plain, precision, read

Field = bool | None
"""Whether a field is right; None where that is not known."""
Row = Mapping[str, str]
Checked = Mapping[str, Field]


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
    if "copied" in row.get("Implementation", ""):
        known = {**known, "Implementation": _labelled(run, condition, row)}
    return [known.get(title) for title in table.columns]


def _labelled(run: Run, condition: str, row: Row) -> Field:
    """Tell whether a label says what share of an implementation's sends the kernel copied."""
    share = re.findall(r"requested, ((?:over |under )?[\d.]+ %) copied", row["Implementation"])
    tables = [run.streams, run.round_trips]
    rows = pd.concat([one for one in tables if not one.empty])
    rows = rows[(rows["condition"] == condition) & (rows["implementation"] == _name(row))]
    copied = rows["zc_copied"].sum() / rows["zc_completed"].sum()
    return agrees("p", share[0], copied, 0.0) if share else None


def _cell_row(run: Run, condition: str, found: re.Match[str], row: Row, _: Table) -> Checked:
    name, size, threads = _name(row), read("size", row["Message"]), int(found[1])

    def value(metric: str) -> Estimate:
        return run.median(condition, name, (size, threads), metric)

    throughput = value(THROUGHPUT)
    cost = next((title for title in row if title.endswith("per byte")), "")
    known = {
        "Message": not math.isnan(throughput.value),
        "Implementation": None,
        "Gbit/s": _shows(row["Gbit/s"], throughput.value / 1e9),
        "interval": _span(row["interval"], throughput, 1e9, run),
        "mean [µs]": _shows(row["mean [µs]"], value("service_mean_ns").value / 1e3),
        "p99 [µs]": _shows(row["p99 [µs]"], value("service_p99_ns").value / 1e3),
        "n": row["n"].split(" of ")[0] == str(throughput.n),
    }
    if cost.split()[0] in ("cycles", "ns"):
        known[cost] = _shows(row[cost], value(run.metric(condition, cost.split()[0])).value)
    if name != "two_copy":
        ratio = run.cells(condition, name, "two_copy").get((size, threads))
        known["ratio"] = _shows(row["ratio"], ratio.value if ratio else math.nan)
    return known


def _ranking_row(run: Run, condition: str, _: re.Match[str], row: Row, table: Table) -> Checked:
    size = read("size", row["Message"])
    threads = int(re.findall(r"(\d+) threads?\)", table.caption)[0])
    metric = f"{run.side(condition)}_cpu_ns_per_byte"
    cost = run.median(condition, _name(row), (size, threads), metric)
    places = {
        _name(dict(zip(table.columns, other, strict=True))): 0
        for other in table.rows
        if other[0] == row["Message"]
    }
    return {
        "Message": not math.isnan(cost.value),
        "Place": row["Place"] == _place(run, condition, _name(row), [*places], (size, threads)),
        "ns per byte": _shows(row["ns per byte"], cost.value),
        "interval": _span(row["interval"], cost, 1.0, run),
        "copies": _shows(row["copies"], cost.value / floor(run, condition, size)[0])
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
        (trips["implementation"] == _name(row))
        & (trips["msg_bytes"] == read("size", row["Message"]))
        & (trips["n_threads"] == int(row.get("Threads", trips["n_threads"].min())))
    ]
    columns = {"p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns", "p99.9": "p999_ns"}
    columns["max"] = "max_ns"
    median = run.median_of(here["round_trip_p50_ns"])
    known: dict[str, Field] = {
        title: _shows(row[title], run.median_of(here[f"round_trip_{column}"]).value / 1e3)
        for title, column in columns.items()
        if row[title] != "---"
    }
    if row["interval"] != "---":
        known["interval"] = _span(row["interval"], median, 1e3, run)
    known["round trips"] = row["round trips"] == f"{int(here['round_trip_samples'].sum()):,}"
    known["n"] = row["n"].split(" of ")[0] == str(median.n if row["p50"] != "---" else len(here))
    return known | {"Message": len(here) > 0}


def _memory_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    size = read("size", row["Working set"])
    point = next(one for one in run.memory["floor"]["points"] if one["bytes"] == size)
    shown = _shows(row["ns per byte"], float(np.median(point["ns_per_byte"])))
    return {"Working set": True, "ns per byte": shown, "Level": None}


def _placement_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    name, size, threads = _name(row), read("size", row["Message"]), int(row["Threads"])
    streams = row["Quantity"].lower().startswith("throughput")
    rows = run.streams if streams else run.round_trips
    metric, unit = (THROUGHPUT, 1e9) if streams else ("round_trip_p50_ns", 1e3)
    rows = rows[
        (rows["status"] == "measured")
        & (rows["implementation"] == name)
        & (rows["msg_bytes"] == size)
        & (rows["n_threads"] == threads)
        & (rows["working_set"] == "hot")
        & (rows["receiver"] == "recv")
    ]
    by_round = rows.pivot_table(index="rep", columns=["testbed", "placement"], values=metric)
    testbed = by_round.columns.get_level_values("testbed")[0]
    apart, here = by_round[testbed, "apart"], by_round[testbed, row["Placement"].strip("`")]
    ratio = run.ratio(pd.Series(np.log(here / apart)))
    return {
        "Message": True,
        "Threads": True,
        "`apart`": _shows(row["`apart`"].split(" ")[0], run.median_of(apart).value / unit),
        "median": _shows(row["median"].split(" ")[0], run.median_of(here).value / unit),
        "ratio": _shows(row["ratio"], ratio.value),
        "interval": _span(row["interval"], ratio, 1.0, run, exact=True),
    }


def _quality_row(run: Run, condition: str, _: re.Match[str], row: Row, _t: Table) -> Checked:
    rows = run.measured(condition)
    found: list[float] = []
    for _key, here in rows.groupby(["implementation", "msg_bytes", "n_threads"]):
        if (value := _badness(row["Check"], here)) is None:
            return {}
        found.append(value)
    bound = float(re.findall(r"\d+", row["Flagged if"])[0])
    at_least, below = "or more" in row["Flagged if"], "under" in row["Flagged if"]
    percent = "%" in row["Worst value"]
    scale = 100.0 if percent else 1.0
    known = [value * scale for value in found if not math.isnan(value)]
    flagged = [v >= bound if at_least else v < bound if below else v > bound for v in known]
    value = (min if below else max)(known) / scale
    return {
        "Cells flagged": row["Cells flagged"] == str(sum(flagged)),
        "Worst value": agrees("p" if percent else "x", row["Worst value"], value, 0.0),
    }


def _badness(check: str, rows: pd.DataFrame) -> float | None:
    """Return what a check looks at in a cell; None for one that is not recomputed."""
    warning = {
        "Repetitions with foreign load": "foreign_load",
        "Repetitions with CPU time stolen": "steal",
        "Repetitions with a lowered clock": "throttled",
        "Repetitions with a late window": "window_edge_late",
    }.get(check)
    if warning:
        return float(sum(warning in text.split(";") for text in rows["warned"]))
    if check == "Measured repetitions":
        return float(len(rows))
    if check == "Spread of the throughput over the rounds":
        return float(rows[THROUGHPUT].std() / rows[THROUGHPUT].mean())
    if check == "Segments sent again per gigabyte":
        return float(rows["tcp_retransmits"].sum() / rows["received_bytes"].sum() * 1e9)
    return None


def _name(row: Row) -> str:
    return str(re.findall(r"`(\w+)`", row["Implementation"])[0])


def _shows(text: str, expected: float) -> bool:
    """Tell whether a field shows a value; one that there is not is shown as a dash."""
    return text == "---" if math.isnan(expected) else agrees("x", text, expected, 0.0)


def _span(text: str, expected: Estimate, unit: float, run: Run, exact: bool = False) -> Field:
    """Tell whether a field shows an interval; one that says little is called too wide."""
    if math.isnan(expected.low):
        return not re.search(r"\d", text)
    error = 0.0 if exact else run.settings.bootstrap_error
    half = math.log(expected.high / expected.low) / 2
    if "too" in text:
        return 2 * half * (1 + error) >= math.log(VAGUE)
    ends = re.findall(r"[\d.,]*\d", text)
    return all(
        abs(plain(end) - found / unit) <= precision(end) * 1.0001 + found / unit * half * error
        for end, found in zip((ends[0], ends[-1]), (expected.low, expected.high), strict=True)
    )


_TABLES: dict[str, Callable[..., Checked]] = {
    r"tbl-.*?(-round-trips)?-decision": check_row,
    r"tbl-.*-t(\d+)": _cell_row,
    r"tbl-.*-ranking": _ranking_row,
    r"tbl-(.*)-round-trips": _round_trip_row,
    r"tbl-memory": _memory_row,
    r"tbl-placement": _placement_row,
    r"tbl-.*-quality": _quality_row,
}
