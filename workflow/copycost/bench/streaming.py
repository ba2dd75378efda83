"""Our sender beside iperf3, and beside itself: interleaved rounds on one testbed."""

import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from copycost.bench.iperf import Stream, iperf_rate
from copycost.bench.pair import BARE, Programs, message_ns, received_rate, run_pair
from copycost.bench.rows import Limit, Row, row_of_rounds
from copycost.measure.lock import host_lock_path, measurement_lock
from copycost.measure.placement import place
from copycost.sizes import format_size
from copycost.testbed.testbed import Testbed, open_testbed

_SIZES = (4096, 65536, 1048576)
_STREAM_COUNTS = (1, 4)
_RATIO_LIMIT = Limit("at_least", 1.0)
_SAMPLING_LIMIT_PERCENT = Limit("at_most", 1.0)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and how often to measure streams.

    Attributes
    ----------
    rounds : int
        Rounds of every comparison; a round holds one run of each contender.
    stream : Stream
        Seconds and CPUs of every run; size and number of streams are replaced.
    seed : int
        Seed of the order of the contenders within a round.
    """

    testbed: Testbed
    programs: Programs
    lock_fd: int
    rounds: int
    stream: Stream
    seed: int

    def pair_rate(self, sender: str, stream: Stream) -> float:
        """Run our pair and return what was received [bit/s]."""
        return received_rate(run_pair(self.testbed, self.programs, sender, stream, self.lock_fd))

    def message_ns(self, sender: str, stream: Stream) -> float:
        """Run our pair and return the sender's time per message [ns]."""
        return message_ns(run_pair(self.testbed, self.programs, sender, stream, self.lock_fd))

    def in_rounds(self, contenders: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
        """Run every contender once per round, in a new order each time; return all results."""
        order = random.Random(self.seed)
        results: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(self.rounds):
            for name in order.sample(sorted(contenders), len(contenders)):
                results[name].append(contenders[name]())
        return results


@contextmanager
def open_bench(
    folder: Path, root: Path, *, rounds: int, duration_s: int, seed: int
) -> Iterator[Bench]:
    """Build the programs and the testbed, and keep other measurements out.

    Parameters
    ----------
    folder : Path
        Where the programs are built.
    root : Path
        The project.

    Raises
    ------
    HostError
        If the programs or the testbed cannot be made here.
    """
    programs = Programs(folder)
    programs.build(["two_copy", "null"], root)
    cpus = place(None, None)
    stream = Stream(0, 0, 1, duration_s, cpus.sender_cpus, cpus.receiver_cpus)
    with measurement_lock(host_lock_path()) as lock, open_testbed("veth") as testbed:
        yield Bench(testbed, programs, lock.fd, rounds, stream, seed)


def iperf_rows(bench: Bench) -> Iterator[Row]:
    """Yield the throughput of `two_copy` as a multiple of iperf3's, per size and streams."""
    for n_streams in _STREAM_COUNTS:
        for msg_bytes in _SIZES:
            stream = replace(bench.stream, msg_bytes=msg_bytes, n_streams=n_streams)
            yield ratio_row(stream, bench.in_rounds(contenders_of(bench, stream)))


def contenders_of(bench: Bench, stream: Stream) -> dict[str, Callable[[], float]]:
    """Return who runs in each round of a comparison with iperf3.

    Either program runs pinned, to the same CPUs, and left to the scheduler: which placement is
    better depends on the host and on its load, and moves the throughput twofold.
    """
    free = replace(stream, sender_cpus=(), receiver_cpus=())
    return {
        "two_copy pinned": partial(bench.pair_rate, "two_copy", stream),
        "two_copy free": partial(bench.pair_rate, "two_copy", free),
        "iperf3 pinned": partial(iperf_rate, bench.testbed, stream, pinned=True),
        "iperf3 free": partial(iperf_rate, bench.testbed, stream, pinned=False),
    }


def ratio_row(stream: Stream, rates: Mapping[str, Sequence[float]]) -> Row:
    """Return the row of a comparison with iperf3.

    Parameters
    ----------
    rates : mapping
        Of each contender the received rate [bit/s] of every round. Each program enters with its
        better placement, by the median; a round's ratio is that of its two runs.
    """
    medians = {name: statistics.median(rounds) for name, rounds in rates.items()}

    def better(program: str) -> str:
        return max((name for name in rates if name.startswith(program)), key=medians.__getitem__)

    ours, theirs = better("two_copy"), better("iperf3")
    ratios = [x / y for x, y in zip(rates[ours], rates[theirs], strict=True)]
    streams = "1 stream" if stream.n_streams == 1 else f"{stream.n_streams} streams"
    shown = ", ".join(f"{name} {median / 1e9:.1f}" for name, median in medians.items())
    return row_of_rounds(
        "streaming",
        f"two_copy / iperf3, {format_size(stream.msg_bytes)}, {streams}",
        ratios,
        "",
        _RATIO_LIMIT,
        note=f"Gbit/s: {shown}",
    )


def harness_rows(bench: Bench) -> Iterator[Row]:
    """Yield what the harness itself costs per message, and what timing messages costs.

    `null` sends nothing, so its time per message is the loop's. What the samples add to that loop,
    set against the time of a real message, is their cost on throughput; the difference of two real
    throughputs shows the same, but within their noise.
    """
    for msg_bytes in _SIZES:
        stream = replace(bench.stream, msg_bytes=msg_bytes, n_streams=1)
        size = format_size(msg_bytes)
        contenders = {
            sender: partial(bench.message_ns, sender, stream)
            for strategy in ("null", "two_copy")
            for sender in (strategy, strategy + BARE)
        }
        times = bench.in_rounds(contenders)
        yield row_of_rounds("harness", f"null strategy, {size}", times["null"], "ns per message")
        yield from sampling_rows(size, times)


def sampling_rows(size: str, times: Mapping[str, Sequence[float]]) -> Iterator[Row]:
    """Yield the cost of the service-time samples from times per message [ns] with and without."""
    message_ns = statistics.median(times["two_copy" + BARE])
    added = [
        100 * (timed - bare) / message_ns
        for timed, bare in zip(times["null"], times["null" + BARE], strict=True)
    ]
    yield row_of_rounds(
        "harness",
        f"cost of timing messages, {size}",
        added,
        "%",
        _SAMPLING_LIMIT_PERCENT,
        note="ns that the samples add per message / ns of a two_copy message",
    )
    seen = [
        100 * (timed / bare - 1)
        for timed, bare in zip(times["two_copy"], times["two_copy" + BARE], strict=True)
    ]
    yield row_of_rounds(
        "harness",
        f"the same in throughput, {size}",
        seen,
        "%",
        note="two_copy with / without samples, within the noise of throughput",
    )
