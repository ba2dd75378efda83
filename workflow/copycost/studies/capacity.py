"""How many CPUs a bitrate takes: from the cost of a byte at full speed, and from cpu_budget.

A curve of cpu_budget is read between the two points around the bitrate. Below the least bitrate
measured no more is known than that its CPU is enough. Beyond the highest there is no answer.
"""

import csv
import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from copycost.config.conditions import Condition
from copycost.errors import DataError
from copycost.hosts.side import SIDES

THROUGHPUT = "throughput_bits_per_s"
Basis = Literal["speed", "points", "least", "beyond"]
_NUMBERS = ("n", "msg_bytes", "n_threads", "median", "low", "high")


class Use(NamedTuple):
    """CPU [% of one CPU] with its interval; NaN where there is none."""

    percent: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True)
class Need:
    """What a bitrate takes, as one cell or one curve of cpu_budget tells it; NaN: not known.

    The basis is ``speed`` (what a byte costs at full speed), ``points`` (between two measured
    bitrates), ``least`` (no more than at the least of them) or ``beyond`` (more than was measured:
    there is no answer).
    """

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
    basis: Basis
    emulated: bool = False  # an emulator ran the guests

    @property
    def is_beyond(self) -> bool:
        """Whether the bitrate is more than was measured, so that there is no answer."""
        return self.basis == "beyond"

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What was measured."""
        return self.condition, self.implementation, self.msg_bytes, self.n_threads


def needs_of_cells(path: Path, bits_per_s: float) -> list[Need]:
    """Return what a bitrate takes in each cell of ``results/tables/summary.csv``, in its order.

    A byte is taken to cost what it costs at full speed, which nobody measured at less. Raises
    DataError if the file is damaged.
    """
    cells: dict[tuple[str, str, int, int], dict[str, Use]] = {}
    try:  # pandas would take longer to load
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                n, msg_bytes, n_threads, *ends = (float(row[name] or "nan") for name in _NUMBERS)
                if n > 0:
                    key = (row["condition"], row["implementation"], int(msg_bytes), int(n_threads))
                    cells.setdefault(key, {})[row["metric"]] = Use(*ends)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: it is damaged ({error!r}); ./run makes it again") from error
    bytes_per_ns = bits_per_s / 8.0 / 1e9
    found = []
    for key, metrics in cells.items():
        condition = Condition.from_slug(key[0])
        cost = metrics.get(f"{'sender' if condition.sender_only else 'both'}_cpu_ns_per_byte")
        if cost is None or THROUGHPUT not in metrics:
            continue
        sender = Use(math.nan) if condition.sender_only else metrics["sender_cpu_ns_per_byte"]
        hypervisors = [metrics.get(f"{side}_hypervisor_cpu_ns_per_byte") for side in SIDES]
        outside = [use.percent for use in hypervisors if use] or [math.nan]
        most = metrics[THROUGHPUT].percent
        cpus, low, high = (end * bytes_per_ns for end in cost)
        of_sender, of_qemu = sender.percent * bytes_per_ns, sum(outside) * bytes_per_ns
        basis: Basis = "beyond" if bits_per_s > most else "speed"
        found.append(Need(key[0], condition.testbed, *key[1:], cpus, low, high, of_sender, of_qemu,
                          most, basis))  # fmt: skip
    return found


def needs_of_curves(path: Path, bits_per_s: float) -> list[Need]:
    """Return what a bitrate takes by each curve in the facts of cpu_budget; none without facts.

    Of each testbed, the least CPU of the machine comes first. Raises DataError if they are damaged.
    """
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except ValueError as error:
        raise DataError(f"{path}: {error}; make it again: ./run cpu_budget") from error
    curves = [curve for curve in facts.get("curves", []) if curve["points"]]
    places = list(dict.fromkeys(curve["testbed"] for curve in curves))
    needs = [_need_of(curve, int(facts["section"]["msg_bytes"]), bits_per_s) for curve in curves]
    needs.sort(key=lambda one: (places.index(one[1].testbed), one[0]))
    return [need for _, need in needs]


def _need_of(curve: Mapping[str, Any], msg_bytes: int, bits_per_s: float) -> tuple[float, Need]:
    """Return all that a bitrate takes of the machine [% of one CPU], and the need.

    The interval of the sum is the sum of the sides' intervals: it holds the truth at least as often
    as these, however the sides go together.
    """
    guests = curve["guests"] or {"sides": (), "shared": False, "emulated": False}
    hypervisors = [f"{side}_hypervisor" for side in guests["sides"]]
    basis, used, most = _read_off(curve["points"], (*SIDES, *hypervisors), bits_per_s)
    # what a side in a guest uses is part of what its hypervisor does
    in_guests = SIDES if guests["shared"] else guests["sides"]
    outermost = [*hypervisors, *(side for side in SIDES if side not in in_guests)]
    total = sum(used[party].percent for party in outermost)
    cpus, low, high = (sum(of) / 100.0 for of in zip(*(used[side] for side in SIDES), strict=True))
    outside = [used[party].percent / 100.0 for party in hypervisors] or [math.nan]
    need = Need(
        curve["testbed"], curve["testbed"], curve["implementation"], msg_bytes, curve["n_threads"],
        cpus, low, high, used["sender"].percent / 100.0, sum(outside), most, basis,
        guests["emulated"],
    )  # fmt: skip
    return math.inf if basis == "beyond" else total, need


def _read_off(
    points: Iterable[Mapping[str, Any]], parties: Iterable[str], bits_per_s: float
) -> tuple[Basis, dict[str, Use], float]:
    """Return from what a bitrate is read, what each party uses for it, and the highest bitrate."""
    known = sorted(points, key=lambda point: float(point["bits_per_s"]["median"]))
    rates = [float(point["bits_per_s"]["median"]) for point in known]
    used = [{**point["parties"], **{side: point[side] for side in SIDES}} for point in known]
    if bits_per_s > rates[-1]:
        return "beyond", dict.fromkeys(parties, Use(math.nan)), rates[-1]
    above = bisect_left(rates, bits_per_s)
    if above == 0:
        return "least", {name: Use(used[0][name]["median"]) for name in parties}, rates[-1]
    share = (bits_per_s - rates[above - 1]) / (rates[above] - rates[above - 1])
    between = {name: _between(used[above - 1][name], used[above][name], share) for name in parties}
    return "points", between, rates[-1]


def _between(left: Mapping[str, Any], right: Mapping[str, Any], share: float) -> Use:
    """Interpolate between what was used at two measured points.

    With the ends' intervals in CPU alone: what their bitrates are uncertain by comes on top.
    """
    ends = ((left[key], right[key]) for key in ("median", "low", "high"))
    return Use(*(math.nan if None in both else both[0] + share * (both[1] - both[0])
                 for both in ends))  # fmt: skip


def best_known(cells: Sequence[Need], curves: Sequence[Need]) -> list[Need]:
    """Return both, without cells whose bitrate itself a curve has measured."""
    known = {need.key for need in curves if not need.is_beyond}
    return [*(need for need in cells if need.key not in known), *curves]


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
