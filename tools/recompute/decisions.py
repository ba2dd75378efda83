"""Who is the fastest and who the cheapest, against the answers in facts.json."""

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.compare import differs
from tools.recompute.estimates import Estimate
from tools.recompute.run import Run, relative_of, windows_of

Logs: TypeAlias = dict[str, pd.DataFrame]
"""By what is asked, how ways compare at a size: a row per way and thread count."""

ALIKE = 1.05


@dataclass
class Answer:
    """Who is the best: one way, or all that may be it, and the ratio to the baseline."""

    ways: list[str]
    kind: str
    p_value: float
    ratio: Estimate | None


@dataclass
class Row:
    """A row of a decision table; a price per thread count."""

    size: int
    threads: list[int]
    missing: list[str]
    answers: dict[str, Answer] = field(default_factory=dict)
    prices: list[float] = field(default_factory=list)


def wrong_decisions(results: Path) -> Iterator[str]:
    """Yield where an answer of facts.json differs: who, by how much, how sure, at what price."""
    path = results / "facts.json"
    if not path.is_file():
        return
    facts, run = json.loads(path.read_text(encoding="utf-8")), Run(results)
    of_trips = enumerate((facts["round_trips"] or {"conditions": []})["conditions"])
    for trips, conditions in ((False, facts["conditions"].items()), (True, of_trips)):
        for at, told in conditions:
            place = f"facts.json: {'round_trips.' * trips}conditions.{at}.decisions"
            name = str(told["slug"] if trips else at)
            rows, found = told["decisions"]["rows"], decision_table(run, name, trips=trips)
            if [(row["msg_bytes"], row["n_threads"]) for row in rows] != [
                (row.size, row.threads) for row in found
            ]:
                yield f"{place}: rows for other sizes or threads than the records give"
                continue
            for number, (row, mine) in enumerate(zip(rows, found, strict=True)):
                yield from _wrong_row(f"{place}.rows[{number}]", row, mine)


def _wrong_row(place: str, told: Mapping[str, Any], found: Row) -> Iterator[str]:
    if told["missing"] != found.missing:
        yield f"{place}.missing is {told['missing']}, recomputed {found.missing}"
    price = told["price"] or {"low": None, "high": None}
    ends = (min(found.prices, default=None), max(found.prices, default=None))
    for end, value in zip(("low", "high"), ends, strict=True):
        yield from differs(f"{place}.price.{end}", price[end], value)
    for key in ("fastest", "cheapest"):
        said, answer = told[key], found.answers.get(key)
        if said is None or answer is None:
            if said is not answer:
                yield f"{place}.{key} is {said}, recomputed {answer}"
            continue
        for what, other in (("verdict", answer.kind), ("subject", " or ".join(answer.ways))):
            if said[what] != other:
                yield f"{place}.{key}.{what} is {said[what]}, recomputed {other}"
        for what, mine in (("n", "n"), ("estimate", "value"), ("low", "low"), ("high", "high")):
            value = getattr(answer.ratio, mine) if answer.ratio else None
            yield from differs(f"{place}.{key}.{what}", said[what], value)


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
            _price(rows, f"{_side(condition)}_cpu_ns_per_byte", 1.25)
    # of round trips, times are told in place of speeds
    signs = {"fastest": -1 if trips else 1, "cheapest": -1}
    columns = {"fastest": "p50_ns" if trips else "throughput_bits_per_s", "cheapest": "price"}
    logs = {name: signs[name] * relative_of(rows, column) for name, column in columns.items()}
    section = run.config["round_trips" if trips else _section(run, condition)]
    listed = [way for way in section["implementations"] if way in set(rows["implementation"])]
    every = sorted(section["n_threads"])
    paid_by = (
        windows_of(rows).groupby(["msg_bytes", "implementation", "n_threads"])["price"].median()
    )
    table: list[Row] = []
    for size in sorted(section["msg_bytes"]):
        here = {
            name: one[one.index.get_level_values("msg_bytes") == size].droplevel("msg_bytes")
            for name, one in logs.items()
        }
        parts = [every] if _together(run, here, listed, every) else [[n] for n in every]
        for threads in parts:
            row = _row(run, here, listed, size, threads, signs)
            if told := row.answers.get("cheapest"):
                paid = paid_by.reindex([(size, told.ways[0], n) for n in threads])
                row.prices = list(paid.dropna())
            table.append(row)
    for name in ("fastest", "cheapest"):
        answers = [row.answers[name] for row in table if name in row.answers]
        stands = estimates.holm(np.array([one.p_value for one in answers]))
        for one, p_value in zip(answers, stands, strict=True):
            if one.kind == "best" and p_value >= 1 - run.settings.confidence:
                one.kind = "unsure"
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
    twice = condition.startswith("wire") and _one_kernel(run, condition)
    return nothing if twice or found.isna().any() else found


def _ratio(run: Run, logs: pd.Series, picked_from: int = 1) -> Estimate:
    return estimates.ratio(logs.to_numpy(float), run.settings.confidence, picked_from)


def _side(condition: str) -> str:
    """Return of whom costs are told: of the sender where nobody receives."""
    return "sender" if condition.startswith(("sink", "wire_sink")) else "both"


def _one_kernel(run: Run, condition: str) -> bool:
    """Tell whether both ends of a condition over the wire are one machine."""
    machine = condition.partition("-")[2].split("_")[0]
    peer = json.loads((run.results / f"peers/{machine}.json").read_text(encoding="utf-8"))
    return bool(peer["wire"].get("one_kernel"))


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
    for name in ("fastest", "cheapest"):
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
    for group, floor in (([row for _, row in pair.iterrows()], False), (halves, True)):
        ratios = [one.to_numpy(float) for one in group]
        if {1, -1} <= set(estimates.settled(ratios, confidence, floor=floor)):
            return True
    return False


def _best(run: Run, here: Logs, name: str, ways: list[str], threads: list[int]) -> Answer:
    """Return who is the best of these ways over these thread counts."""
    logs = {way: _means(here, name, way, threads) for way in ways}
    if len(ways) == 1:
        return Answer(ways, "alone", math.nan, None)
    leads = {way: min((logs[way] - logs[o]).mean() for o in ways if o != way) for way in ways}
    first = max(ways, key=lambda way: leads[way])
    others = [way for way in ways if way != first]
    found = {way: _ratio(run, logs[first] - logs[way]) for way in others}
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
    wide = [_ratio(run, logs[first] - logs[way], len(others)) for way in kept]
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
        if name == "fastest":
            row.missing = [way for way in listed if way not in ways]
        if not ways:
            continue
        answer = _best(run, here, name, ways, threads)
        picked = next((way for way in answer.ways if way != baseline), None)
        if picked and baseline in ways:
            logs = _means(here, name, picked, threads) - _means(here, name, baseline, threads)
            n_picked_from = 1 if answer.kind == "best" else len(ways) - 1
            found = _ratio(run, sign * logs, n_picked_from)
            if found.n:
                answer.ratio = found
        row.answers[name] = answer
    return row
