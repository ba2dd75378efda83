"""Which iperf3 will do."""

import pytest

from copycost.errors import Unavailable
from copycost.measure.drivers.iperf3.tool import judge_version


@pytest.mark.parametrize(
    ("printed", "version", "threaded"),
    [
        ("iperf 3.12 (cJSON 1.7.15)\nLinux host 6.1", (3, 12), False),
        ("iperf 3.5 (cJSON 1.5.2)", (3, 5), False),
        ("iperf 3.16 (cJSON 1.7.15)", (3, 16), True),
        ("iperf 3.17.1+ (cJSON 1.7.15)", (3, 17), True),
        ("iperf 4.0", (4, 0), True),
    ],
)
def test_versions_are_read(printed: str, version: tuple[int, int], threaded: bool) -> None:
    tool = judge_version("/usr/bin/iperf3", printed)
    assert tool.version == version
    assert tool.threaded is threaded


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("iperf 3.1.3", "too old"),
        ("iperf 3.4", "too old"),
        ("", "no version of iperf 3"),
        ("iperf version 2.1.8", "no version of iperf 3"),
    ],
)
def test_what_does_not_do_is_refused_with_a_remedy(printed: str, why: str) -> None:
    with pytest.raises(Unavailable, match=why) as raised:
        judge_version("/usr/bin/iperf3", printed)
    assert raised.value.remedy == "install iperf3 3.5 or newer"


def test_a_version_with_one_thread_gets_a_pair_per_stream() -> None:
    assert judge_version("iperf3", "iperf 3.12").pairs(2) == (2, 1)
    assert judge_version("iperf3", "iperf 3.16").pairs(2) == (1, 2)
