"""Our round trips beside sockperf's: interleaved rounds on one testbed."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from copycost.bench.iperf import Stream
from copycost.bench.pair import median_round_trip_ns, run_pair
from copycost.bench.rows import Limit, Row, row_of_rounds
from copycost.bench.sockperf import sockperf_median_ns
from copycost.bench.streaming import Bench
from copycost.sizes import format_size

_SIZES = (64, 4096, 32768)  # sockperf takes at most 65507 bytes
_RATIO_LIMIT = Limit("at_most", 1.05)


def round_trip_rows(bench: Bench) -> Iterator[Row]:
    """Yield the median round trip of `two_copy` as a multiple of sockperf's, per size."""
    for msg_bytes in _SIZES:
        stream = replace(bench.stream, msg_bytes=msg_bytes, n_streams=1)
        yield round_trip_row(stream, bench.in_rounds(contenders_of(bench, stream)))


def contenders_of(bench: Bench, stream: Stream) -> dict[str, Callable[[], float]]:
    """Return who runs in each round: either program pinned, and left to the scheduler."""
    free = replace(stream, sender_cpus=(), receiver_cpus=())

    def ours(placed: Stream) -> float:
        return median_round_trip_ns(
            run_pair(
                bench.testbed, bench.programs, "two_copy", placed, bench.lock_fd, "round_trips"
            )
        )

    return {
        "two_copy pinned": partial(ours, stream),
        "two_copy free": partial(ours, free),
        "sockperf pinned": partial(sockperf_median_ns, bench.testbed, stream),
        "sockperf free": partial(sockperf_median_ns, bench.testbed, free),
    }


def round_trip_row(stream: Stream, times: Mapping[str, Sequence[float]]) -> Row:
    """Return the row of a comparison with sockperf.

    Parameters
    ----------
    times : mapping
        Of each contender the median round trip [ns] of every round. Each program enters with its
        better placement, by the median; a round's ratio is that of its two runs.
    """
    medians = {name: statistics.median(rounds) for name, rounds in times.items()}

    def better(program: str) -> str:
        return min((name for name in times if name.startswith(program)), key=medians.__getitem__)

    ours, theirs = better("two_copy"), better("sockperf")
    shown = ", ".join(f"{name} {median / 1e3:.1f}" for name, median in medians.items())
    return row_of_rounds(
        "round trips",
        f"two_copy / sockperf, {format_size(stream.msg_bytes)}",
        [x / y for x, y in zip(times[ours], times[theirs], strict=True)],
        "",
        _RATIO_LIMIT,
        note=f"median round trip in us: {shown}",
    )
