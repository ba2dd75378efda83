"""The decision tables, made again from the records: who is the fastest, who the cheapest."""

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.document import Table
from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT, Run, relative_of
from tools.recompute.slots import VAGUE, agrees
from tools.recompute.wire import one_kernel

Logs: TypeAlias = dict[str, pd.DataFrame]
"""By speed and cheapness, how ways compare at a size: a row per way and thread count."""

ALIKE = 1.05
_MANY = 3  # ways of which not all are named


@dataclass
class Answer:
    """Who is the best: one way, or all that may be it, and the ratio to the baseline."""

    ways: list[str]
    kind: str
    p_value: float
    ratio: Estimate | None
    settled: bool = False


@dataclass
class Row:
    """A row of a decision table; a price per thread count."""

    size: int
    threads: list[int]
    missing: list[str]
    answers: dict[str, Answer] = field(default_factory=dict)
    prices: list[float] = field(default_factory=list)


def of_tables(run: Run, *, trips: bool) -> pd.DataFrame:
    """Return the measured repetitions under the conditions that have a table.

    The study of placements has others.
    """
    rows = run.round_trips if trips else run.streams
    if rows.empty:
        return rows
    sections = ("round_trips",) if trips else ("streams", "udp")
    placements = {place for name in sections for place in run.config[name]["placements"]}
    return rows[rows["placement"].isin(placements) & (rows["status"] == "measured")]


def decision_table(run: Run, condition: str, *, trips: bool) -> list[Row]:
    """Return the rows of a condition's table."""
    rows = of_tables(run, trips=trips)
    rows = rows[rows["condition"] == condition].copy()
    if trips:
        # no column where no repetition tells it
        rows["price"] = _of_machines(run, condition, rows, "round_trip")
        if rows["price"].isna().all():
            _price(rows, "both_cpu_ns_per_round_trip", 1.0)
    else:
        # 10 Gbit/s are 1.25 bytes per nanosecond.
        rows["price"] = 1.25 * _of_machines(run, condition, rows, "byte")
        if rows["price"].isna().all():
            _price(rows, f"{run.side(condition)}_cpu_ns_per_byte", 1.25)
    # of round trips, times are told in place of speeds
    signs = {"speed": -1 if trips else 1, "cheapness": -1}
    columns = {"speed": "p50_ns" if trips else THROUGHPUT, "cheapness": "price"}
    logs = {name: signs[name] * relative_of(rows, column) for name, column in columns.items()}
    section = run.config["round_trips" if trips else _section(run, condition)]
    listed = [way for way in section["implementations"] if way in set(rows["implementation"])]
    every = sorted(section["n_threads"])
    table: list[Row] = []
    for size in sorted(section["msg_bytes"]):
        here = {
            name: one[one.index.get_level_values("msg_bytes") == size].droplevel("msg_bytes")
            for name, one in logs.items()
        }
        prices = rows[rows["msg_bytes"] == size].groupby(["implementation", "n_threads"])["price"]
        parts = [every] if _together(run, here, listed, every) else [[n] for n in every]
        for threads in parts:
            row = _row(run, here, listed, size, threads, signs)
            if told := row.answers.get("cheapness"):
                paid = prices.median().reindex([(told.ways[0], n) for n in threads])
                row.prices = list(paid.dropna())
            table.append(row)
    for name in ("speed", "cheapness"):
        answers = [row.answers[name] for row in table if name in row.answers]
        stands = estimates.holm(np.array([one.p_value for one in answers]))
        for one, p_value in zip(answers, stands, strict=True):
            one.settled = bool(p_value < 1 - run.settings.confidence)
    return table


def _price(rows: pd.DataFrame, cost: str, unit: float) -> None:
    """Have rows cost what a column says, and what it says of their reference."""
    rows["price"] = unit * rows[cost].astype(float)
    if f"reference_{cost}" in rows:
        rows["reference_price"] = unit * rows[f"reference_{cost}"].astype(float)


def _of_machines(run: Run, condition: str, rows: pd.DataFrame, unit: str) -> pd.Series:
    """Return the CPU time of both machines; NaN where they are not two, or not always counted."""
    name = f"machines_cpu_ns_per_{unit}"
    nothing = pd.Series(math.nan, index=rows.index)
    found = rows.get(name, nothing).astype(float)
    twice = condition.startswith("wire") and one_kernel(run, condition)
    return nothing if twice or found.isna().any() else found


def _section(run: Run, condition: str) -> str:
    testbed = run.streams.loc[run.streams["condition"] == condition, "testbed"].iloc[0]
    return "udp" if testbed in run.config["udp"]["testbeds"] else "streams"


def _logs(here: Logs, name: str, way: str, threads: list[int]) -> pd.DataFrame:
    """Return one way's logarithms: a row per thread count, a column per repetition."""
    return here[name].reindex([(way, n) for n in threads]).droplevel("implementation")


def _means(here: Logs, name: str, way: str, threads: list[int]) -> pd.Series:
    return _logs(here, name, way, threads).mean(axis=0, skipna=False)


def _together(run: Run, here: Logs, listed: list[str], threads: list[int]) -> bool:
    """Tell whether all thread counts have one row."""
    if len(threads) == 1:
        return True
    for name in ("speed", "cheapness"):
        ways = [way for way in listed if _logs(here, name, way, threads).notna().to_numpy().any()]
        if any(_means(here, name, way, threads).isna().all() for way in ways):
            return False
        if not ways:
            continue
        for one, other in itertools.product(_best(run, here, name, ways, threads).ways, ways):
            if one != other:
                pair = _logs(here, name, one, threads) - _logs(here, name, other, threads)
                if _contradict(pair, run.settings.confidence):
                    return False
    return True


def _contradict(pair: pd.DataFrame, confidence: float) -> bool:
    """Tell whether a comparison is shown to go one way with some threads and another with others.

    One by one, or the fewer together and the more.
    """
    middle = len(pair) // 2
    halves = [estimates.block(half).mean() for half in (pair.iloc[:middle], pair.iloc[middle:])]
    groups = ([row for _, row in pair.iterrows()], halves)
    return any(
        {1, -1} <= set(estimates.settled([one.to_numpy(float) for one in group], confidence))
        for group in groups
    )


def _best(run: Run, here: Logs, name: str, ways: list[str], threads: list[int]) -> Answer:
    """Return who is the best of these ways over these thread counts."""
    logs = {way: _means(here, name, way, threads) for way in ways}
    if len(ways) == 1:
        return Answer(ways, "alone", math.nan, None)
    leads = {way: min((logs[way] - logs[o]).mean() for o in ways if o != way) for way in ways}
    first = max(ways, key=lambda way: leads[way])
    others = [way for way in ways if way != first]
    found = {way: run.ratio(logs[first] - logs[way]) for way in others}
    if max(one.n for one in found.values()) < 2:
        return Answer([first], "once", math.nan, None)
    worst = max(one.p_value if one.value > 1 and one.n > 1 else 1.0 for one in found.values())
    wrong = 1 - run.settings.confidence
    if worst < wrong:
        return Answer([first], "best", worst, None)
    corrected = estimates.holm(np.array([found[way].p_value for way in others]))
    left_out = {
        w for w, p in zip(others, corrected, strict=True) if found[w].value > 1 and p < wrong
    }
    kept = sorted((way for way in others if way not in left_out), key=lambda way: found[way].value)
    wide = [run.ratio(logs[first] - logs[way], len(others)) for way in kept]
    alike = all(one.high < ALIKE and one.low > 1 / ALIKE for one in wide)
    return Answer([first, *kept], "alike" if alike else "open", worst, None)


def _row(
    run: Run,
    here: Logs,
    listed: list[str],
    size: int,
    threads: list[int],
    signs: Mapping[str, int],
) -> Row:
    row = Row(size, threads, [])
    baseline = "two_copy" if "two_copy" in listed else listed[0]
    for name, sign in signs.items():
        ways = [way for way in listed if _means(here, name, way, threads).notna().any()]
        if name == "speed":
            row.missing = [way for way in listed if way not in ways]
        if not ways:
            continue
        answer = _best(run, here, name, ways, threads)
        picked = next((way for way in answer.ways if way != baseline), None)
        if picked and baseline in ways:
            logs = _means(here, name, picked, threads) - _means(here, name, baseline, threads)
            n_picked_from = 1 if answer.kind == "best" else len(ways) - 1
            answer.ratio = run.ratio(sign * logs, n_picked_from)
        row.answers[name] = answer
    return row


_tables: dict[tuple[int, str, bool], list[Row]] = {}


def table_of(run: Run, condition: str, *, trips: bool) -> list[Row]:
    """Return `decision_table`, made once."""
    key = id(run), condition, trips
    if key not in _tables:
        _tables[key] = decision_table(run, condition, trips=trips)
    return _tables[key]


def check_row(
    run: Run, condition: str, found: re.Match[str], row: Mapping[str, str], table: Table
) -> Mapping[str, bool]:
    """Return which fields of a row of a report's decision table are right."""
    wanted = table_of(run, condition, trips=bool(found[1]))
    columns = list(row)
    place = next(i for i, cells in enumerate(table.rows) if cells == list(row.values()))
    mine = wanted[place]
    several = len(run_threads(wanted)) > len(mine.threads)
    named = f", {mine.threads[0]} thread{'s' * (mine.threads[0] > 1)}" if several else ""
    missing = ", no " + _or([f"`{way}`" for way in mine.missing]) if mine.missing else ""
    size, more = re.fullmatch(r"([\d.,]+ [KMG]?i?B)(.*)", row[columns[0]]).groups()  # type: ignore[union-attr]
    fields = {columns[0]: run.size(size) == mine.size and more == named + missing}
    for (title, ratio), name in zip(
        (columns[1:3], columns[3:5]), ("speed", "cheapness"), strict=True
    ):
        answer = mine.answers.get(name)
        fields[title] = row[title].replace("\\*", "") == _words(answer)
        # a name has no number of its own that could be found wrong
        fields[ratio] = fields[title] and _ratio_shows(row[ratio], answer)
    scale = 1e-3 if found[1] else 1.0
    fields[columns[5]] = _price_shows(row[columns[5]], [scale * one for one in mine.prices])
    return fields


def run_threads(rows: list[Row]) -> set[int]:
    """Return the thread counts of a table."""
    return {n for row in rows for n in row.threads}


def _or(names: list[str]) -> str:
    return " or ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])


def _words(answer: Answer | None) -> str:
    if answer is None:
        return "---"
    ways = [f"`{way}`" for way in answer.ways]
    if len(ways) > _MANY:
        ways = [*ways[:2], f"{len(ways) - 2} others"]
    names = _or(ways)
    if answer.kind == "best":
        return names if answer.settled else f"likely {names}"
    words = {"alike": f"{names}, alike", "once": f"{names}, seen once", "alone": f"only {names}"}
    return words.get(answer.kind, names)


def _ratio_shows(text: str, answer: Answer | None) -> bool:
    if answer is None or answer.ratio is None:
        return text == ("---" if answer is None else "1")
    numbers = re.findall(r"[\d.,]*\d", text)
    ratio = answer.ratio
    if text == "too wide":
        return ratio.high > VAGUE * ratio.low
    wanted = [ratio.value] if math.isnan(ratio.low) else [ratio.value, ratio.low, ratio.high]
    return len(numbers) == len(wanted) and all(
        agrees("x", number, value, 0.0) for number, value in zip(numbers, wanted, strict=True)
    )


def _price_shows(text: str, prices: list[float]) -> bool:
    if not prices:
        return text == "---"
    ends = re.findall(r"[\d.,]*\d", text)
    return agrees("x", ends[0], min(prices), 0.0) and agrees("x", ends[-1], max(prices), 0.0)
