"""The command ``plan``: how much CPU a bitrate takes on this host, from what was measured.

It is read off each curve of cpu_budget, between the two points around the bitrate. Below the least
bitrate measured no more is known than that its CPU is enough; beyond the highest there is no
answer. Of cells that no curve has at the bitrate, a byte is taken to cost what it costs at full
speed.
"""

import argparse
import csv
import json
import math
import textwrap
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from copycost.config.conditions import Condition
from copycost.errors import DataError
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import EMULATED
from copycost.wording.numbers import format_size, size_option
from copycost.wording.words import plural

HELP = "say how much CPU a bitrate takes on this host"

DESCRIPTION = """\
Say how many CPUs of sender and receiver a bitrate takes on this host, for every way and testbed
measured: from the cost per byte at full speed, or from ./run cpu_budget where that measured the
bitrate itself."""

EPILOG = "Exit status: 0 answered, 1 beyond what was measured, or nothing measured."

RESULTS = Path("results")
WIDTH = 80
_TITLES = ("condition", "way", "size", "threads", "CPUs", "sender", "most", "from")
_TO_THE_LEFT = ("condition", "way", "CPUs", "from")
_NUMBERS = ("n", "msg_bytes", "n_threads", "median", "low", "high")
_ENDS = _NUMBERS[3:]

Basis = Literal["speed", "points", "least", "beyond"]
Use: TypeAlias = tuple[float, ...]
"""A median and the ends of its interval; NaN where there is none."""


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("--gbps", type=_bitrate, required=True, metavar="N", help="bitrate [10^9 bit/s]")
    add("--testbed", help="veth, sink, ..., or a condition such as sink_cold")
    add("--implementation", metavar="WAY", help="two_copy, zero_copy, ..., iperf3")
    add("--size", type=size_option, metavar="BYTES", help="message size, such as 64KiB")
    add("--threads", "--streams", type=int, metavar="N", help="threads per side, that is, streams")
    add("--all", action="store_true", help="every size and number of threads, not the cheapest")
    add("--json", action="store_true", help="print the rows as JSON")
    add("--results", type=Path, default=RESULTS, metavar="FOLDER", help=f"default: {RESULTS}")


def _bitrate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no bitrate; it must be above 0")
    return value


def run(options: argparse.Namespace) -> int:
    """Print the plan; return 0, or 1 where the bitrate is beyond what was measured."""
    results: Path = options.results
    budget, summary = results / "cpu_budget" / "facts.json", results / "tables" / "summary.csv"
    curves = _read(needs_of_curves, budget, options.gbps * 1e9, "./run cpu_budget")
    at_the_bitrate = {need.key for need in curves if not need.is_beyond}
    cells = _read(needs_of_cells, summary, options.gbps * 1e9, "./run")
    known = [*(need for need in cells if need.key not in at_the_bitrate), *curves]
    if not known:
        raise DataError(
            f"{results}: no CPU time per byte was measured; measure first: "
            "./run, or ./run cpu_budget"
        )
    chosen = [
        need
        for need in known
        if options.testbed in (None, need.testbed, need.condition)
        and options.implementation in (None, need.implementation)
        and options.size in (None, need.msg_bytes)
        and options.threads in (None, need.n_threads)
    ]
    if not chosen:
        sizes = sorted({need.msg_bytes for need in known})
        threads = sorted({need.n_threads for need in known})
        raise DataError(
            f"{results}: nothing was measured there; what was: "
            f"{', '.join(dict.fromkeys(need.condition for need in known))}; "
            f"{', '.join(dict.fromkeys(need.implementation for need in known))}; "
            f"{', '.join(map(format_size, sizes))}; "
            f"threads: {', '.join(map(str, threads))}; add it to config.yaml and run ./run"
        )
    rows = in_order(chosen) if options.all else least_of(in_order(chosen))
    if options.json:
        plain = [
            {name: None if value != value else value for name, value in asdict(need).items()}
            for need in rows
        ]
        print(json.dumps(plain, indent=1))
    else:
        print("\n".join(table(rows, options.gbps)))
        for note in notes(rows, least=len(rows) < len(chosen)):
            print(textwrap.fill(note, WIDTH, break_on_hyphens=False))
    return 1 if all(need.is_beyond for need in chosen) else 0


def _read(
    needs_of: Callable[[Path, float], list[Need]], path: Path, bits_per_s: float, command: str
) -> list[Need]:
    """Return what `needs_of` finds in a file, nothing without one; DataError of a damaged one."""
    if not path.is_file():
        return []
    try:
        return needs_of(path, bits_per_s)
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        again = f"make it again: {command}"
        raise DataError(f"{path}: it is damaged ({error!r}); {again}") from error


def needs_of_cells(path: Path, bits_per_s: float) -> list[Need]:
    """Return what a bitrate takes in each cell of ``results/tables/summary.csv``, in its order."""
    cells: dict[tuple[str, str, int, int], dict[str, Use]] = {}
    for row in _rows_of(path):
        n, msg_bytes, n_threads, *use = (float(row[name] or "nan") for name in _NUMBERS)
        if n > 0:
            key = (row["condition"], row["implementation"], int(msg_bytes), int(n_threads))
            cells.setdefault(key, {})[row["metric"]] = tuple(use)
    emulated: set[str] = set()
    if any("hypervisor" in metric for metrics in cells.values() for metric in metrics):
        rows = _rows_of(path.with_name("cells.csv"))
        emulated = {row["condition"] for row in rows if row["accelerator"] == EMULATED}
    bytes_per_ns = bits_per_s / 8.0 / 1e9
    found = []
    for key, metrics in cells.items():
        condition = Condition.from_slug(key[0])
        cost = metrics.get(f"{'sender' if condition.sender_only else 'both'}_cpu_ns_per_byte")
        if cost is None or "throughput_bits_per_s" not in metrics:
            continue
        most = metrics["throughput_bits_per_s"][0]
        sender = math.nan if condition.sender_only else metrics["sender_cpu_ns_per_byte"][0]
        names = (f"{side}_hypervisor_cpu_ns_per_byte" for side in SIDES)
        hypervisors = [metrics[name][0] for name in names if name in metrics] or [math.nan]
        cpus, low, high, sender, outside = (
            ns * bytes_per_ns for ns in (*cost, sender, sum(hypervisors))
        )
        basis: Basis = "beyond" if bits_per_s > most else "speed"
        found.append(Need(key[0], condition.testbed, *key[1:], cpus, low, high, sender, outside,
                          most, basis, key[0] in emulated))  # fmt: skip
    return found


def _rows_of(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)  # pandas would take longer to load


def needs_of_curves(path: Path, bits_per_s: float) -> list[Need]:
    """Return what a bitrate takes by each curve in the facts of cpu_budget."""
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    # facts that could not be computed have none
    curves = [curve for curve in facts.get("curves", []) if curve["points"]]
    return [_need_of(curve, int(facts["section"]["msg_bytes"]), bits_per_s) for curve in curves]


def _need_of(curve: Mapping[str, Any], msg_bytes: int, bits_per_s: float) -> Need:
    """Return what a bitrate takes by one curve.

    The interval of the sum is the sum of the sides' intervals: it holds the truth at least as often
    as these, however the sides go together. Theirs are of CPU alone: what the bitrates of the two
    points are uncertain by comes on top.
    """
    points = sorted(curve["points"], key=lambda point: float(point["bits_per_s"]["median"]))
    rates = [float(point["bits_per_s"]["median"]) for point in points]
    above = bisect_left(rates, bits_per_s)

    def measured(party: str, index: int) -> Use:
        point = points[index]
        found = point[party] if party in SIDES else point["parties"][party]
        return tuple(math.nan if found[end] is None else found[end] / 100.0 for end in _ENDS)

    def used(party: str) -> Use:
        if above == len(points):
            return math.nan, math.nan, math.nan
        if above == 0:
            return measured(party, 0)[0], math.nan, math.nan
        share = (bits_per_s - rates[above - 1]) / (rates[above] - rates[above - 1])
        ends = zip(measured(party, above - 1), measured(party, above), strict=True)
        return tuple(left + share * (right - left) for left, right in ends)

    sender, receiver = map(used, SIDES)
    cpus, low, high = (one + other for one, other in zip(sender, receiver, strict=True))
    hypervisors = [name for name in points[0]["parties"] if name.endswith("_hypervisor")]
    outside = [used(name)[0] for name in hypervisors] or [math.nan]
    basis: Basis = "beyond" if above == len(points) else "points" if above else "least"
    return Need(
        curve["testbed"], curve["testbed"], curve["implementation"], msg_bytes, curve["n_threads"],
        cpus, low, high, sender[0], sum(outside), rates[-1], basis, curve["emulated"],
    )  # fmt: skip


def in_order(needs: Sequence[Need]) -> list[Need]:
    """Return them with the fewest CPUs first within each condition.

    At the end of it stand those beyond what was measured, from the one that comes closest on.
    """
    places = [need.condition for need in needs]
    ordered = sorted(needs, key=lambda it: -it.most_bits_per_s if it.is_beyond else it.cpus)
    return sorted(ordered, key=lambda it: (places.index(it.condition), it.is_beyond))


def least_of(ordered: Sequence[Need]) -> list[Need]:
    """Return the first of each condition and implementation.

    The least of several has no interval, since its own does not allow for the choice.
    """
    ways: dict[tuple[str, str], list[Need]] = {}
    for need in ordered:
        ways.setdefault((need.condition, need.implementation), []).append(need)
    return [
        replace(first, low=math.nan, high=math.nan) if others and not others[0].is_beyond else first
        for first, *others in ways.values()
    ]


def table(needs: Sequence[Need], gbps: float) -> list[str]:
    """Return the lines of the table."""
    in_guests = any(not math.isnan(need.outside) for need in needs)
    rows = [["QEMU" if title == "sender" and in_guests else title for title in _TITLES]]
    for need in needs:
        cpus, low, high = (_in_full(value, 2) for value in (need.cpus, need.low, need.high))
        interval = "" if math.isnan(need.low) else f" ({low}-{high})"
        part, alone = (need.outside, "") if in_guests else (need.sender, "all")
        used = [f"{cpus}{interval}", alone if math.isnan(part) else _in_full(part, 2)]
        rows.append(
            [
                *(need.condition, need.implementation),
                *(format_size(need.msg_bytes).replace(" ", ""), str(need.n_threads)),
                *(["beyond measured", ""] if need.is_beyond else used),
                _in_full(need.most_bits_per_s / 1e9, 3),
                "" if need.is_beyond else need.basis,
            ]
        )
    columns = []
    for title, texts in zip(_TITLES, zip(*rows, strict=True), strict=True):
        width, form = max(map(len, texts)), str.ljust if title in _TO_THE_LEFT else str.rjust
        columns.append([form(text, width) for text in texts])
    inside = " (in a guest: inside)" if in_guests else " together"
    return [
        f"{gbps:g} Gbit/s takes this many CPUs of sender and receiver{inside}:",
        *(" ".join(row).rstrip() for row in zip(*columns, strict=True)),
    ]


def _in_full(value: float, digits: int) -> str:
    """Return a number with so many significant digits, or more rather than with an exponent."""
    return f"{value:.0f}" if value >= 10**digits - 0.5 else f"{value:.{digits}g}"


def notes(needs: Sequence[Need], least: bool) -> Iterator[str]:
    """Yield the sentences below the table; `least`: other sizes and threads were left out."""
    answers = [need for need in needs if not need.is_beyond]
    bases = {need.basis for need in answers}
    yield "most: the highest bitrate measured there [Gbit/s]."
    if "speed" in bases:
        yield "speed: from what a byte costs at full speed; at lower bitrates it may cost more."
    if bases & {"points", "least"}:
        yield "points, least: between two bitrates of cpu_budget, or at most as at its lowest."
    if any(not math.isnan(need.low) for need in answers):
        yield "In brackets: the interval of the median."
    if least:
        yield "Each line has the size and threads that take the fewest CPUs; --all shows all."
    if any(not math.isnan(need.outside) for need in answers):
        yield "QEMU: CPUs of the host that the guests' hypervisors use, those inside included."
    if any(need.outside < need.cpus for need in answers):
        yield "Where it is less than inside, guests waited for CPUs, or a side runs in no guest."
    if emulated := dict.fromkeys(need.condition for need in needs if need.emulated):
        places = ", ".join(emulated)
        yield f"Emulated: {places}. CPU use and bitrates differ with hardware virtualisation."
    if any(math.isnan(need.sender) for need in answers):
        yield "sink has no receiver, so the CPUs are the sender's alone."
    if n_beyond := sum(need.is_beyond for need in needs):
        yield f"Beyond what was measured: {plural(n_beyond, 'line')}."
