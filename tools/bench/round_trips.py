"""Our round trips beside sockperf's: interleaved rounds on one testbed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from copycost.wording.numbers import format_size
from tools.bench.bench import Bench
from tools.bench.contest import Contest, contest_row
from tools.bench.pair import median_round_trip_ns, run_pair
from tools.bench.rows import Limit, Row
from tools.bench.yardstick import Stream, sockperf_median_ns

_SIZES = (64, 4096, 32768)  # sockperf takes at most 65507 bytes
_RATIO_LIMIT = Limit("at_most", 1.05)


def round_trip_rows(bench: Bench) -> Iterator[Row]:
    """Yield the median round trip of `two_copy` as a multiple of sockperf's, per size."""
    for msg_bytes in _SIZES:
        stream = replace(bench.stream, msg_bytes=msg_bytes, n_threads=1)
        yield contest_row(bench, contest_of(bench, stream))


def contest_of(bench: Bench, stream: Stream) -> Contest:
    """Return the comparison with sockperf at this size."""
    return Contest(
        group="round trips",
        name=f"two_copy / sockperf, {format_size(stream.msg_bytes)}",
        programs=("two_copy", "sockperf"),
        contenders=contenders_of(bench, stream),
        limit=_RATIO_LIMIT,
        quantity="median round trip in us",
        per_unit=1e3,
    )


def contenders_of(bench: Bench, stream: Stream) -> dict[str, Callable[[], float]]:
    """Return who runs in each round: either program in every placement."""

    def ours(placed: Stream) -> float:
        return median_round_trip_ns(
            run_pair(
                bench.held, bench.testbed, bench.programs, "two_copy", placed, "request_response"
            )
        )

    mine: dict[str, Callable[[], float]] = {}
    theirs: dict[str, Callable[[], float]] = {}
    for name, placed in bench.everywhere(stream).items():
        mine[f"two_copy {name}"] = partial(ours, placed)
        theirs[f"sockperf {name}"] = partial(sockperf_median_ns, bench.testbed, placed)
    return mine | theirs
