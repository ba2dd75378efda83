"""The benchmark: its rows and their limits, our programs, other ones, and the workflow's parts."""

import json

import pytest
from sample_records import sample_record

from copycost.errors import ParseError
from tools.bench.iperf3_sockperf import median_ns
from tools.bench.iperf3_sockperf import received_rate as rate_of_iperf
from tools.bench.rows import Limit, Row, row_of_rounds
from tools.bench.step_rows import Timed
from tools.bench.workflow_runs import overhead_row

AT_LEAST_ONE = Limit("at_least", 1.0)
AT_MOST_HALF = Limit("at_most", 0.5)


def row(value: float | None, limit: Limit | None = None, **rest: float) -> Row:
    return Row("group", "name", value, "s", limit=limit, **rest)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (row(1.0, AT_LEAST_ONE), "ok"),
        (row(0.9, AT_LEAST_ONE), "under"),
        (row(0.4, AT_MOST_HALF), "ok"),
        (row(0.6, AT_MOST_HALF), "over"),
        (row(1.2, AT_LEAST_ONE, low=1.1, high=1.3), "ok"),
        (row(1.2, AT_LEAST_ONE, low=0.9, high=1.3), "unsure"),
        (row(0.9, AT_LEAST_ONE, low=0.8, high=1.1), "unsure"),
        (row(7.0), ""),
        (row(None, AT_LEAST_ONE), "not measured"),
    ],
)
def test_verdict_compares_with_the_limit_and_is_unsure_where_the_interval_holds_it(
    found: Row, verdict: str
) -> None:
    assert found.verdict == verdict


def test_rounds_become_their_median_and_its_interval() -> None:
    few, many = (row_of_rounds("group", "name", [3.0, 1.0, 2.0] * n, "s") for n in (1, 10))
    assert (few.value, few.n, many.value, many.n) == (2.0, 3, 2.0, 30)
    assert few.low < many.low < 2.0 < many.high < few.high  # type: ignore[operator]


def test_received_rate_of_iperf_is_the_one_of_the_receiver() -> None:
    end = {"sum_sent": {"bits_per_second": 9.0}, "sum_received": {"bits_per_second": 7.5}}
    assert rate_of_iperf(json.dumps({"end": end})) == 7.5
    for output in ("", "iperf3: not JSON", "{}", '{"end": {}}', '{"end": null}'):
        with pytest.raises(ParseError, match="sum_received"):
            rate_of_iperf(output)


# written by sockperf 3.7, shortened
OUTPUT = """\
sockperf: Summary: Round trip is 41.691 usec
sockperf: ---> percentile 75.000 =   15.262
sockperf: ---> percentile 50.000 =   14.581
sockperf: ---> percentile 25.000 =   14.311
"""


def test_median_of_sockperf_is_in_nanoseconds() -> None:
    assert median_ns(OUTPUT) == pytest.approx(14_581)
    for output in ("", "sockperf: ERROR: refused", "percentile 50.000 = -nan"):
        with pytest.raises(ParseError, match="percentile 50"):
            median_ns(output)


def test_overhead_leaves_out_windows_and_waiting_for_others() -> None:
    records = [sample_record("two_copy", lock_wait_s=0.0, wall_s=0.5),
               sample_record("two_copy", lock_wait_s=1.0, wall_s=0.3)]  # fmt: skip
    found = overhead_row(Timed(begin_s=0.0, wall_s=5.24, cpu_s=3.0, peak_bytes=0), records)
    assert found.value == pytest.approx((5.24 - 2 * 0.12 - 1.0) / 2)
    assert found.n == 2
