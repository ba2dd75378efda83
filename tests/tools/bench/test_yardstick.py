"""Other benchmarks: what is read from them, and how they go wrong."""

import json
import shutil
from dataclasses import replace

import pytest

from copycost.errors import ParseError, Unavailable
from copycost.hosts.placement import Placement
from copycost.testbeds.testbed import open_testbed
from tools.bench.yardstick import (
    Stream,
    iperf_rate,
    median_ns,
    received_rate,
    sockperf_median_ns,
)

PINNED = Placement((0,), (0,))
STREAM = Stream(4096, 2, 1, 1, PINNED)


def test_received_rate_is_the_one_of_the_receiver() -> None:
    end = {"sum_sent": {"bits_per_second": 9.0}, "sum_received": {"bits_per_second": 7.5}}
    assert received_rate(json.dumps({"end": end})) == 7.5


@pytest.mark.parametrize("output", ["", "iperf3: not JSON", "{}", '{"end": {}}', '{"end": null}'])
def test_other_output_of_iperf_is_a_parse_error(output: str) -> None:
    with pytest.raises(ParseError, match="sum_received"):
        received_rate(output)


@pytest.mark.slow
@pytest.mark.needs_root
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3 on this host")
@pytest.mark.parametrize("placement", [PINNED, replace(PINNED, pinned=False)])
def test_real_iperf_runs_on_the_testbed(placement: Placement) -> None:
    try:
        with open_testbed("veth") as testbed:
            assert iperf_rate(testbed, replace(STREAM, placement=placement)) > 0
    except Unavailable as error:
        pytest.skip(str(error))


# sockperf leaves out its first 0.4 s, and on a busy host there may be nothing in the rest of one
SLOW_STREAM = Stream(4096, 1, 0, 3, Placement((0,), (0,)))

# written by sockperf 3.7, shortened
OUTPUT = """\
sockperf: Summary: Round trip is 41.691 usec
sockperf: ---> percentile 75.000 =   15.262
sockperf: ---> percentile 50.000 =   14.581
sockperf: ---> percentile 25.000 =   14.311
"""


def test_median_of_sockperf_is_in_nanoseconds() -> None:
    assert median_ns(OUTPUT) == pytest.approx(14_581)


@pytest.mark.parametrize("output", ["", "sockperf: ERROR: refused", "percentile 50.000 = -nan"])
def test_output_without_a_median_is_a_parse_error(output: str) -> None:
    with pytest.raises(ParseError, match="percentile 50"):
        median_ns(output)


@pytest.mark.slow
@pytest.mark.needs_root
@pytest.mark.skipif(shutil.which("sockperf") is None, reason="no sockperf on this host")
def test_real_sockperf_runs_on_the_testbed() -> None:
    try:
        with open_testbed("veth") as testbed:
            assert sockperf_median_ns(testbed, SLOW_STREAM) > 0
    except Unavailable as error:
        pytest.skip(str(error))
