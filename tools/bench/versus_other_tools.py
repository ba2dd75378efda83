"""Our programs beside others: interleaved rounds on one testbed."""

import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from copycost.build.toolchain import compile_program
from copycost.config.cells import Cell
from copycost.config.checkout import ROOT
from copycost.config.settings import Mode, Settings
from copycost.config.testbeds import APART, PLACEMENTS
from copycost.errors import HostError, WithRemedy
from copycost.hosts.placement import Placement, place
from copycost.hosts.side import SIDES
from copycost.hosts.testbeds.testbed import Testbed, open_testbed
from copycost.measure.drivers.programs.driver import Programs
from copycost.measure.drivers.protocol import Payload, Setup
from copycost.measure.held_host import HeldHost, locked_host
from copycost.wording.numbers import format_size
from tools.bench.iperf3_sockperf import Stream, iperf_rate, sockperf_median_ns
from tools.bench.rows import Limit, Row, row_of_rounds

_SIZES = (4096, 65536, 1048576)
_STREAM_COUNTS = (1, 4)
_REQUEST_SIZES = (64, 4096, 32768)  # sockperf takes at most 65507 bytes
# one hot message needs no size of a cache
_NO_FACTS = {"cpu": {"caches": {"llc_bytes": None}}}


@dataclass(frozen=True, slots=True)
class Bench:
    """A testbed, a folder of programs to run on it, and how often.

    A round holds one run of each contender, in an order of its own from the seed; there are
    `most_rounds` at most where the first ones do not settle whether a limit is kept. The stream
    states the seconds of every run, with both ends apart; its size and number are replaced.
    """

    testbed: Testbed
    folder: Path
    held: HeldHost
    rounds: int
    most_rounds: int
    placements: Mapping[str, Placement]
    stream: Stream
    seed: int

    def run_pair(self, name: str, stream: Stream, mode: Mode = "stream") -> Payload:
        """Run the sender of a strategy and a receiver for one window.

        Without perf and without a record.

        Raises HostError if one of them fails; the message holds what it said.
        """
        testbed = self.testbed
        setup = Setup(
            cell=Cell("streams", testbed.kind, name, stream.msg_bytes, stream.n_threads),
            settings=Settings(stream.warmup_s, stream.duration_s, "cubic", mode=mode),
            facts=dict.fromkeys(SIDES, _NO_FACTS),
            machine=self.held.machine,
            placement=stream.placement,
            testbed=testbed,
            waiting=self.held.waiting,
            around=lambda _side, launch: launch,
        )
        driver = Programs(self.folder / f"sender_{name}", self.folder / "receiver")
        try:
            with driver.traffic(setup) as traffic:
                window = traffic.open_window(stream.warmup_s, stream.duration_s)
                traffic.watch_until(window.start_ns, "window")
                traffic.watch_until(window.end_ns, "drain")
                return traffic.finish()
        except WithRemedy as error:
            raise HostError(f"bench: {name} failed: {error.reason}") from error

    def in_rounds(
        self, contenders: Mapping[str, Callable[[], float]], first: int, end: int
    ) -> dict[str, list[float]]:
        """Run every contender once per round, in a new order each time; return all results.

        The rounds are numbered from `first`, counted from 0, up to and without `end`.
        """
        order = random.Random(f"{self.seed} {first}")
        results: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(first, end):
            for name in order.sample(sorted(contenders), len(contenders)):
                results[name].append(contenders[name]())
        return results


def build_programs(strategy: str, folder: Path) -> None:
    """Compile a receiver and the sender of a strategy with the measured flags."""
    compile_program("receiver", "recv", folder / "receiver", root=ROOT)
    compile_program("sender", strategy, folder / f"sender_{strategy}", root=ROOT)


@contextmanager
def open_bench(
    folder: Path, *, rounds: int, most_rounds: int, duration_s: int, seed: int
) -> Iterator[Bench]:
    """Build the programs in a folder and the testbed, and keep other measurements out.

    Raises HostError if the programs or the testbed cannot be made here.
    """
    build_programs("two_copy", folder)
    with locked_host("bench") as held, open_testbed("veth", held.machine) as testbed:
        placements = {name: place(held.machine, name, None, None) for name in PLACEMENTS}
        stream = Stream(0, 0, 1, duration_s, placements[APART])
        yield Bench(testbed, folder, held, rounds, most_rounds, placements, stream, seed)


def received_rate(measured: Payload) -> float:
    """Return what the receiver got in its window [bit/s]."""
    receiver = measured.entry["receiver"]
    window, received_bytes = receiver["window"], receiver["in_window"]["bytes"]
    return float(received_bytes * 8e9 / (window["end_ns"] - window["start_ns"]))


def median_round_trip_ns(measured: Payload) -> float:
    """Return the median time from a request to its reply [ns].

    Raises HostError if the window holds no round trip.
    """
    median_ns = measured.entry["sender"]["round_trip"]["p50_ns"]
    if median_ns is None:
        raise HostError("bench: no round trip fitted into the window; make it longer (--seconds)")
    return float(median_ns)


@dataclass(frozen=True, slots=True)
class Contest:
    """Our two_copy beside another program, whose ratio should keep a limit.

    Either is run in every placement on the CPUs: which is better depends on the host and on its
    load, and moves the throughput twofold. The quantity has a unit, into which `per_unit` divides a
    result.
    """

    group: str
    name: str
    rival: str
    ours: Callable[[Bench, Stream], float]
    theirs: Callable[[Testbed, Stream], float]
    limit: Limit
    quantity: str
    per_unit: float

    def row(self, bench: Bench, stream: Stream) -> Row:
        """Measure all contenders first, then, as long as it is open, the favourites.

        As many rounds again are added while the interval of the ratio holds the limit, up to
        `bench.most_rounds`. Looking several times misleads a little more often than the confidence
        of the interval says.
        """
        placed = {
            name: replace(stream, placement=placement)
            for name, placement in bench.placements.items()
        }
        contenders = {
            f"two_copy {name}": partial(self.ours, bench, one) for name, one in placed.items()
        } | {
            f"{self.rival} {name}": partial(self.theirs, bench.testbed, one)
            for name, one in placed.items()
        }
        results = bench.in_rounds(contenders, 0, bench.rounds)
        ours, theirs = (self._favourite(program, results) for program in ("two_copy", self.rival))
        finalists = {name: contenders[name] for name in (ours, theirs)}
        row = self._row_of(results, ours, theirs)
        while row.unsure and row.n < bench.most_rounds:
            end = min(row.n + bench.rounds, bench.most_rounds)
            for name, values in bench.in_rounds(finalists, row.n, end).items():
                results[name] += values
            row = self._row_of(results, ours, theirs)
        return row

    def _favourite(self, program: str, rounds: Mapping[str, Sequence[float]]) -> str:
        """Return the better placement of a program, by the median of its rounds."""
        best = max if self.limit.bound == "at_least" else min
        names = (name for name in rounds if name.startswith(program))
        return best(names, key=lambda name: statistics.median(rounds[name]))

    def _row_of(self, rounds: Mapping[str, Sequence[float]], ours: str, theirs: str) -> Row:
        """Return the ratio of the favourites, paired by round."""
        medians = {name: statistics.median(of) / self.per_unit for name, of in rounds.items()}
        shown = ", ".join(f"{name} {median:.1f}" for name, median in medians.items())
        ratios = [x / y for x, y in zip(rounds[ours], rounds[theirs], strict=True)]
        note = f"{self.quantity}: {shown}"
        return row_of_rounds(self.group, self.name, ratios, "", self.limit, note=note)


def iperf_rows(bench: Bench) -> Iterator[Row]:
    """Yield the throughput of `two_copy` as a multiple of iperf3's, per size and streams."""
    for n_threads in _STREAM_COUNTS:
        for msg_bytes in _SIZES:
            streams = "1 stream" if n_threads == 1 else f"{n_threads} streams"
            yield Contest(
                group="streaming",
                name=f"two_copy / iperf3, {format_size(msg_bytes)}, {streams}",
                rival="iperf3",
                ours=lambda bench, placed: received_rate(bench.run_pair("two_copy", placed)),
                theirs=iperf_rate,
                limit=Limit("at_least", 1.0),
                quantity="Gbit/s",
                per_unit=1e9,
            ).row(bench, replace(bench.stream, msg_bytes=msg_bytes, n_threads=n_threads))


def round_trip_rows(bench: Bench) -> Iterator[Row]:
    """Yield the median round trip of `two_copy` as a multiple of sockperf's, per size."""
    for msg_bytes in _REQUEST_SIZES:
        yield Contest(
            group="round trips",
            name=f"two_copy / sockperf, {format_size(msg_bytes)}",
            rival="sockperf",
            ours=lambda bench, placed: median_round_trip_ns(
                bench.run_pair("two_copy", placed, "request_response")
            ),
            theirs=sockperf_median_ns,
            limit=Limit("at_most", 1.05),
            quantity="median round trip in us",
            per_unit=1e3,
        ).row(bench, replace(bench.stream, msg_bytes=msg_bytes, n_threads=1))
