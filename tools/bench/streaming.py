"""Our sender beside iperf3, and beside itself: interleaved rounds on one testbed."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from copycost.wording.numbers import format_size
from tools.bench.bench import Bench
from tools.bench.contest import Contest, contest_row
from tools.bench.pair import BARE
from tools.bench.rows import Limit, Row, row_of_rounds
from tools.bench.yardstick import Stream, iperf_rate

_SIZES = (4096, 65536, 1048576)
_STREAM_COUNTS = (1, 4)
_RATIO_LIMIT = Limit("at_least", 1.0)
_SAMPLING_LIMIT_PERCENT = Limit("at_most", 1.0)


def iperf_rows(bench: Bench) -> Iterator[Row]:
    """Yield the throughput of `two_copy` as a multiple of iperf3's, per size and streams."""
    for n_threads in _STREAM_COUNTS:
        for msg_bytes in _SIZES:
            stream = replace(bench.stream, msg_bytes=msg_bytes, n_threads=n_threads)
            yield contest_row(bench, contest_of(bench, stream))


def contenders_of(bench: Bench, stream: Stream) -> dict[str, Callable[[], float]]:
    """Return who runs in each round of a comparison with iperf3.

    Either program runs in every placement: which is better depends on the host and on its load, and
    moves the throughput twofold.
    """
    ours: dict[str, Callable[[], float]] = {}
    theirs: dict[str, Callable[[], float]] = {}
    for name, placed in bench.everywhere(stream).items():
        ours[f"two_copy {name}"] = partial(bench.pair_rate, "two_copy", placed)
        theirs[f"iperf3 {name}"] = partial(iperf_rate, bench.testbed, placed)
    return ours | theirs


def contest_of(bench: Bench, stream: Stream) -> Contest:
    """Return the comparison with iperf3 of these streams."""
    streams = "1 stream" if stream.n_threads == 1 else f"{stream.n_threads} streams"
    return Contest(
        group="streaming",
        name=f"two_copy / iperf3, {format_size(stream.msg_bytes)}, {streams}",
        programs=("two_copy", "iperf3"),
        contenders=contenders_of(bench, stream),
        limit=_RATIO_LIMIT,
        quantity="Gbit/s",
        per_unit=1e9,
    )


def harness_rows(bench: Bench) -> Iterator[Row]:
    """Yield what the harness itself costs per message, and what timing messages costs.

    `null` sends nothing, so its time per message is the loop's. What the samples add to that loop,
    set against the time of a real message, is their cost on throughput; the difference of two real
    throughputs shows the same, but within their noise.
    """
    for msg_bytes in _SIZES:
        stream = replace(bench.stream, msg_bytes=msg_bytes, n_threads=1)
        size = format_size(msg_bytes)
        contenders = {
            sender: partial(bench.message_ns, sender, stream)
            for strategy in ("null", "two_copy")
            for sender in (strategy, strategy + BARE)
        }
        times = bench.in_rounds(contenders, 0, bench.rounds)
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
