import shutil

import pytest

from copycost.errors import ParseError, Unavailable
from copycost.hosts.placement import Placement
from copycost.testbeds.testbed import open_testbed
from tools.bench.iperf import Stream
from tools.bench.sockperf import median_ns, sockperf_median_ns

# sockperf leaves out its first 0.4 s, and on a busy host there may be nothing in the rest of one
STREAM = Stream(4096, 1, 0, 3, Placement((0,), (0,)))

# written by sockperf 3.7, shortened
OUTPUT = """\
sockperf: Summary: Round trip is 41.691 usec
sockperf: ---> percentile 75.000 =   15.262
sockperf: ---> percentile 50.000 =   14.581
sockperf: ---> percentile 25.000 =   14.311
"""


def test_median_is_in_nanoseconds() -> None:
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
            assert sockperf_median_ns(testbed, STREAM) > 0
    except Unavailable as error:
        pytest.skip(str(error))
