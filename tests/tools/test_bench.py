"""The benchmark: its rows and their limits, our programs, other ones, and the workflow's parts."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_records import sample_record

from copycost.errors import ParseError
from copycost.hosts.placement import Placement
from copycost.hosts.testbeds.testbed import open_testbed
from copycost.measure.held_host import locked_host
from tools.bench.iperf3_sockperf import Stream, median_ns
from tools.bench.iperf3_sockperf import received_rate as rate_of_iperf
from tools.bench.rows import Limit, Row, row_of_rounds
from tools.bench.step_rows import Timed, table_rows
from tools.bench.versus_other_tools import Bench, build_programs, received_rate
from tools.bench.workflow_runs import overhead_row

AT_LEAST_ONE = Limit("at_least", 1.0)
AT_MOST_HALF = Limit("at_most", 0.5)
ANY = tuple(os.sched_getaffinity(0))
STREAM = Stream(4096, 1, 0, 1, Placement(ANY, ANY, pinned=False))


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


@pytest.fixture(scope="module")
def programs() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        build_programs("null", Path(folder))
        yield Path(folder)


@pytest.fixture
def bench(programs: Path, tmp_path: Path) -> Iterator[Bench]:
    """With a lock of the test's own: other tests measure meanwhile."""
    with locked_host("test", tmp_path / "lock") as held, open_testbed("loopback") as testbed:
        yield Bench(testbed, programs, held, 1, 1, {}, STREAM, 1)


@pytest.mark.slow
def test_real_pair_gives_a_rate(bench: Bench) -> None:
    assert received_rate(bench.run_pair("null", STREAM)) == 0  # it sends nothing


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


@pytest.mark.slow
def test_tables_of_copies_are_made_and_timed(tmp_path: Path) -> None:
    time_row, memory_row = table_rows(tmp_path, [sample_record("two_copy")], 50)
    assert (time_row.unit, memory_row.unit) == ("s", "MB")
    assert len((tmp_path / "cells.csv").read_text().splitlines()) == 51
