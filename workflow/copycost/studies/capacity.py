"""How many CPUs a bitrate takes: from the cost of a byte at full speed, and from cpu_budget.

Within the linear range of a curve of cpu_budget the line says it, with its interval. Above it, up
to the highest bitrate measured, the two points around it do. Below the least bitrate measured no
more is known than that its CPU is enough. Beyond the highest there is no answer.
"""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from copycost.config.conditions import Condition
from copycost.errors import DataError
from copycost.hosts.side import SIDES

Basis = Literal["line", "points", "least", "beyond"]
THROUGHPUT = "throughput_bits_per_s"
_NUMBERS = ("n", "msg_bytes", "n_threads", "median", "low", "high")


@dataclass(frozen=True, slots=True)
class Use:
    """CPU of one side [% of one CPU] with its interval, None where there is none."""

    percent: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What one curve says of a bitrate.

    `basis` is ``line``, ``points`` (between two measured points), ``least`` (no more than the least
    point's CPU) or ``beyond`` (more than was measured: there are no needs, and `total_percent` is
    infinite).
    """

    testbed: str
    implementation: str
    limiter: str
    n_threads: int
    basis: Basis
    sender: Use | None
    receiver: Use | None
    outside: Mapping[str, Use]  # of the hypervisors, by the side whose guest it is
    emulated: bool  # guests ran in an emulator
    # of the machine; what a side in a guest uses is part of what its hypervisor does
    total_percent: float
    highest_bits_per_s: float  # on the curve


def plan_for(facts: Mapping[str, Any], bits_per_s: float, testbed: str) -> list[Plan]:
    """Return what each curve of a testbed says, the least CPU of both sides first."""
    plans = [
        _plan(curve, bits_per_s)
        for curve in facts["curves"]
        if curve["testbed"] == testbed and curve["points"]
    ]
    return sorted(plans, key=lambda plan: plan.total_percent)


def _plan(curve: Mapping[str, Any], bits_per_s: float) -> Plan:
    points = sorted(curve["points"], key=lambda point: float(point["bits_per_s"]["median"]))
    rates = [float(point["bits_per_s"]["median"]) for point in points]
    used = [{**point["parties"], **{side: point[side] for side in SIDES}} for point in points]
    guests = curve["guests"]
    hypervisors = {side: f"{side}_hypervisor" for side in guests["sides"]} if guests else {}
    parties = [*SIDES, *hypervisors.values()]
    lines = {name: curve["lines"][name] for name in parties}
    basis: Basis
    needs: dict[str, Use] = {}
    if bits_per_s > rates[-1]:
        basis = "beyond"
    elif bits_per_s < rates[0]:
        basis = "least"
        needs = {name: Use(used[0][name]["median"], None, None) for name in parties}
    elif all(line and bits_per_s <= line["most_bits_per_s"] for line in lines.values()):
        basis = "line"
        # a side has one thread per stream, so there is a most
        most = dict.fromkeys(SIDES, 100.0 * curve["n_threads"])
        needs = {
            name: _on_line(line, bits_per_s, most.get(name, math.inf))
            for name, line in lines.items()
        }
    else:
        basis = "points"
        above = next(i for i, rate in enumerate(rates) if rate >= bits_per_s)
        below = max(0, above - 1)
        span = rates[above] - rates[below]
        share = (bits_per_s - rates[below]) / span if span > 0 else 1.0
        needs = {name: _between(used[below][name], used[above][name], share) for name in parties}
    in_guests = SIDES if guests and guests["shared"] else tuple(hypervisors)
    outermost = [*hypervisors.values(), *(side for side in SIDES if side not in in_guests)]
    return Plan(
        curve["testbed"],
        curve["implementation"],
        curve["limiter"],
        curve["n_threads"],
        basis,
        needs.get("sender"),
        needs.get("receiver"),
        {side: needs[name] for side, name in hypervisors.items() if name in needs},
        bool(guests and guests["emulated"]),
        sum(needs[name].percent for name in outermost) if needs else math.inf,
        rates[-1],
    )


def _on_line(line: Mapping[str, Any], bits_per_s: float, most_percent: float) -> Use:
    """Read a bitrate's CPU off a line, up to what there can be at most."""
    slope, intercept = line["slope"]["value"], line["intercept"]["value"]
    percent = (bits_per_s - intercept) / slope
    if line["reach"] is None:
        return Use(max(0.0, percent), None, None)
    # delta method, see copycost.stats.errors_in_variables.Line.where
    variance = (
        line["intercept_variance"]
        + percent**2 * line["slope_variance"]
        + 2.0 * percent * line["covariance"]
    ) / slope**2
    half = line["reach"] * max(variance, 0.0) ** 0.5
    return Use(max(0.0, percent), max(0.0, percent - half), min(percent + half, most_percent))


def _between(left: Mapping[str, Any], right: Mapping[str, Any], share: float) -> Use:
    """Interpolate between what was used at two measured points.

    With the ends' intervals in CPU alone: what their bitrates are uncertain by comes on top.
    """

    def at(key: str) -> float | None:
        if left[key] is None or right[key] is None:
            return None
        return float(left[key] + share * (right[key] - left[key]))

    percent = at("median")
    assert percent is not None
    return Use(percent, at("low"), at("high"))


@dataclass(frozen=True, slots=True)
class Need:
    """What a bitrate takes, as one cell or one curve of cpu_budget tells it; NaN: not known."""

    condition: str
    testbed: str
    implementation: str
    msg_bytes: int
    n_threads: int
    cpus: float  # of both sides together; where nobody receives, of the sender
    low: float  # the interval; NaN of one repetition, and of a cell that was chosen out of several
    high: float
    sender: float  # CPUs of the sender alone
    outside: float  # CPUs of the hypervisors, which hold those of sides in guests
    most_bits_per_s: float  # the most that was measured there
    basis: Basis | Literal["speed"]  # from what a byte costs at full speed, else as `Plan` has it
    emulated: bool = False  # an emulator ran the guests

    @property
    def is_beyond(self) -> bool:
        """Whether the bitrate is more than was measured, so that there is no answer."""
        return self.basis == "beyond"


def read_summary(path: Path) -> list[dict[str, Any]]:
    """Return the rows of ``results/tables/summary.csv``; pandas would take longer to load."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [
                {**row, **{name: float(row[name] or "nan") for name in _NUMBERS}}
                for row in csv.DictReader(file)
            ]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: it is damaged ({error!r}); ./run makes it again") from error


def read_facts(path: Path) -> Mapping[str, Any] | None:
    """Return the facts of cpu_budget; None where it was not measured, or gave no value."""
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path}: {error}; make it again: ./run cpu_budget") from error
    return facts if facts.get("n_measured") else None


def needs_of_cells(summary: Iterable[Mapping[str, Any]], bits_per_s: float) -> list[Need]:
    """Return what a bitrate takes in each cell with throughput and cost, in the table's order.

    A byte is taken to cost what it costs at full speed, which nobody measured at less.
    """
    cells: dict[tuple[str, str, int, int], dict[str, Mapping[str, Any]]] = {}
    for row in summary:
        if row["n"] > 0:
            cell = (
                str(row["condition"]), str(row["implementation"]),
                int(row["msg_bytes"]), int(row["n_threads"]),
            )  # fmt: skip
            cells.setdefault(cell, {})[row["metric"]] = row
    bytes_per_ns = bits_per_s / 8.0 / 1e9
    found = []
    for cell, metrics in cells.items():
        condition = Condition.from_slug(cell[0])
        cost = metrics.get(f"{'sender' if condition.sender_only else 'both'}_cpu_ns_per_byte")
        if cost is None or THROUGHPUT not in metrics:
            continue
        medians = {name: float(row["median"]) for name, row in metrics.items()}
        hypervisors = [f"{side}_hypervisor_cpu_ns_per_byte" for side in SIDES]
        outside = [medians[name] for name in hypervisors if name in medians] or [math.nan]
        sender = math.nan if condition.sender_only else medians["sender_cpu_ns_per_byte"]
        most = medians[THROUGHPUT]
        need = Need(
            cell[0],
            condition.testbed,
            *cell[1:],
            cpus=float(cost["median"]) * bytes_per_ns,
            low=float(cost["low"]) * bytes_per_ns,
            high=float(cost["high"]) * bytes_per_ns,
            sender=sender * bytes_per_ns,
            outside=sum(outside) * bytes_per_ns,
            most_bits_per_s=most,
            basis="beyond" if bits_per_s > most else "speed",
        )
        found.append(need)
    return found


def needs_of_curves(facts: Mapping[str, Any], bits_per_s: float) -> list[Need]:
    """Return what a bitrate takes by each curve of cpu_budget, whose `facts` these are.

    The interval of the sum is the sum of the sides' intervals: it holds the truth at least as often
    as these, however the sides go together.
    """
    found = []
    for testbed in dict.fromkeys(str(curve["testbed"]) for curve in facts["curves"]):
        for plan in plan_for(facts, bits_per_s, testbed):
            sides = [need for need in (plan.sender, plan.receiver) if need is not None]
            need = Need(
                testbed,
                testbed,
                plan.implementation,
                int(facts["section"]["msg_bytes"]),
                plan.n_threads,
                cpus=_cpus(need.percent for need in sides),
                low=_cpus(need.low for need in sides),
                high=_cpus(need.high for need in sides),
                sender=plan.sender.percent / 100.0 if plan.sender else math.nan,
                outside=_cpus(need.percent for need in plan.outside.values()),
                most_bits_per_s=plan.highest_bits_per_s,
                basis=plan.basis,
                emulated=plan.emulated,
            )
            found.append(need)
    return found


def _cpus(percents: Iterable[float | None]) -> float:
    """Return the sum of some CPU use in CPUs; NaN without any, or where one is not known."""
    values = [math.nan if one is None else one for one in percents]
    return sum(values) / 100.0 if values else math.nan


def best_known(cells: Sequence[Need], curves: Sequence[Need]) -> list[Need]:
    """Return both, without cells whose bitrate itself a curve has measured."""

    def cell_of(need: Need) -> tuple[str, str, int, int]:
        return need.condition, need.implementation, need.msg_bytes, need.n_threads

    known = {cell_of(need) for need in curves if not need.is_beyond}
    return [*(need for need in cells if cell_of(need) not in known), *curves]


def least_of(needs: Sequence[Need]) -> list[Need]:
    """Return of each condition and implementation what takes the fewest CPUs.

    Where none reaches the bitrate, the one that comes closest. The least of several has no
    interval, since its own does not allow for the choice.
    """
    ways: dict[tuple[str, str], list[Need]] = {}
    for need in needs:
        ways.setdefault((need.condition, need.implementation), []).append(need)
    found = []
    for of in ways.values():
        reached = [need for need in of if not need.is_beyond]
        if not reached:
            found.append(max(of, key=lambda need: need.most_bits_per_s))
            continue
        least = min(reached, key=lambda need: need.cpus)
        found.append(least if len(reached) == 1 else replace(least, low=math.nan, high=math.nan))
    return found
