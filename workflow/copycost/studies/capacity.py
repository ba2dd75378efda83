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
from typing import Any, Literal, NamedTuple

from copycost.config.conditions import Condition
from copycost.errors import DataError
from copycost.hosts.side import SIDES

Basis = Literal["line", "points", "least", "beyond"]
THROUGHPUT = "throughput_bits_per_s"
_NUMBERS = ("n", "msg_bytes", "n_threads", "median", "low", "high")


class Use(NamedTuple):
    """CPU [% of one CPU] with its interval; NaN where there is none."""

    percent: float
    low: float = math.nan
    high: float = math.nan


def uses_of(
    curve: Mapping[str, Any], parties: Iterable[str], bits_per_s: float
) -> tuple[Basis, dict[str, Use]]:
    """Return what each party uses for a bitrate by a curve that has points, and from what.

    `basis` is ``line``, ``points`` (between two measured points), ``least`` (no more than the least
    point's CPU) or ``beyond`` (more than was measured: there is no answer).
    """
    points = sorted(curve["points"], key=lambda point: float(point["bits_per_s"]["median"]))
    rates = [float(point["bits_per_s"]["median"]) for point in points]
    used = [{**point["parties"], **{side: point[side] for side in SIDES}} for point in points]
    lines = {name: curve["lines"][name] for name in parties}
    if bits_per_s > rates[-1]:
        return "beyond", dict.fromkeys(lines, Use(math.nan))
    if bits_per_s < rates[0]:
        return "least", {name: Use(used[0][name]["median"]) for name in lines}
    if all(line and bits_per_s <= line["most_bits_per_s"] for line in lines.values()):
        # a side has one thread per stream, so there is a most
        most = dict.fromkeys(SIDES, 100.0 * curve["n_threads"])
        return "line", {
            name: _on_line(line, bits_per_s, most.get(name, math.inf))
            for name, line in lines.items()
        }
    above = next(i for i, rate in enumerate(rates) if rate >= bits_per_s)
    below = max(0, above - 1)
    span = rates[above] - rates[below]
    share = (bits_per_s - rates[below]) / span if span > 0 else 1.0
    return "points", {name: _between(used[below][name], used[above][name], share) for name in lines}


def _on_line(line: Mapping[str, Any], bits_per_s: float, most_percent: float) -> Use:
    """Read a bitrate's CPU off a line, up to what there can be at most."""
    slope, intercept = line["slope"]["value"], line["intercept"]["value"]
    percent = (bits_per_s - intercept) / slope
    if line["reach"] is None:
        return Use(max(0.0, percent))
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
    ends = ((left[key], right[key]) for key in ("median", "low", "high"))
    return Use(*(math.nan if None in both else both[0] + share * (both[1] - both[0])
                 for both in ends))  # fmt: skip


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
    basis: Basis | Literal["speed"]  # from what a byte costs at full speed, else as `uses_of` says
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

    Of each testbed, the least CPU of the machine comes first.
    """
    found = []
    for testbed in dict.fromkeys(curve["testbed"] for curve in facts["curves"]):
        needs = [
            _need_of(curve, int(facts["section"]["msg_bytes"]), bits_per_s)
            for curve in facts["curves"]
            if curve["testbed"] == testbed and curve["points"]
        ]
        found += [need for _, need in sorted(needs, key=lambda one: one[0])]
    return found


def _need_of(curve: Mapping[str, Any], msg_bytes: int, bits_per_s: float) -> tuple[float, Need]:
    """Return all that a bitrate takes of the machine [% of one CPU], and the need.

    The interval of the sum is the sum of the sides' intervals: it holds the truth at least as often
    as these, however the sides go together.
    """
    guests = curve["guests"] or {"sides": (), "shared": False, "emulated": False}
    hypervisors = [f"{side}_hypervisor" for side in guests["sides"]]
    basis, used = uses_of(curve, (*SIDES, *hypervisors), bits_per_s)
    # what a side in a guest uses is part of what its hypervisor does
    in_guests = SIDES if guests["shared"] else guests["sides"]
    outermost = [*hypervisors, *(side for side in SIDES if side not in in_guests)]
    total = sum(used[party].percent for party in outermost)
    cpus, low, high = (sum(of) / 100.0 for of in zip(*(used[side] for side in SIDES), strict=True))
    need = Need(
        curve["testbed"],
        curve["testbed"],
        curve["implementation"],
        msg_bytes,
        curve["n_threads"],
        cpus,
        low,
        high,
        sender=used["sender"].percent / 100.0,
        outside=sum(used[party].percent for party in hypervisors) / 100.0
        if hypervisors
        else math.nan,
        most_bits_per_s=max(point["bits_per_s"]["median"] for point in curve["points"]),
        basis=basis,
        emulated=guests["emulated"],
    )
    return math.inf if basis == "beyond" else total, need


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
