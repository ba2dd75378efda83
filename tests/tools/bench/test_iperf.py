import json
import shutil
from dataclasses import replace

import pytest

from copycost.errors import HostError, ParseError, Unavailable
from copycost.hosts.placement import Placement
from copycost.testbeds.testbed import open_testbed
from tools.bench.iperf import Stream, iperf_rate, received_rate

PINNED = Placement((0,), (0,))
STREAM = Stream(4096, 2, 1, 1, PINNED)


def test_received_rate_is_the_one_of_the_receiver() -> None:
    end = {"sum_sent": {"bits_per_second": 9.0}, "sum_received": {"bits_per_second": 7.5}}
    assert received_rate(json.dumps({"end": end})) == 7.5


def test_error_of_iperf_is_passed_on() -> None:
    with pytest.raises(HostError, match="unable to connect"):
        received_rate('{"error": "unable to connect to server"}')


@pytest.mark.parametrize("output", ["", "iperf3: not JSON", "{}", '{"end": {}}', '{"end": null}'])
def test_other_output_is_a_parse_error(output: str) -> None:
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
