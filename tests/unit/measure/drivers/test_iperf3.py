"""Which iperf3 will do, its JSON, and the faults it is known for."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from copycost.errors import AttemptFailed, ParseError, Unavailable
from copycost.hosts.host import Program
from copycost.measure.drivers.iperf3.driver import _Process, _report_of
from copycost.measure.drivers.iperf3.tool import (
    Interval,
    intervals_of,
    judge_version,
    parse_json,
    udp_totals,
    within,
)
from copycost.records.record import Disturbance

DATA = Path(__file__).parents[3] / "data" / "iperf3"


def text(name: str) -> str:
    return (DATA / f"{name}.json").read_text(encoding="utf-8")


def content(name: str) -> dict[str, Any]:
    return parse_json(text(name), name)[0]


def test_real_output_has_its_intervals() -> None:
    first, second = intervals_of(content("tcp_client"), "client")
    assert first == Interval(0.0, 0.50009, 2368471040, 2)
    assert second.start_s == first.end_s
    assert second.seconds == pytest.approx(0.504869)


def test_a_client_ends_with_what_was_sent_and_lost() -> None:
    totals = udp_totals(content("udp_client"))
    assert totals == {"sent": 135030, "lost": 83004, "out_of_order": 0}
    assert set(udp_totals({}).values()) == {None}


@pytest.mark.parametrize("printed", ["nan", "-inf", "NaN", "-Infinity"])
def test_values_that_are_no_numbers_become_none(printed: str) -> None:
    # an interval without its bytes is left out; a name is no value
    parsed, odd = parse_json(text("tcp_client").replace("2368471040", printed), "client")
    assert (odd, len(intervals_of(parsed, "client"))) == (True, 1)
    assert parse_json(f'{{"title": "{printed}, or not"}}', "client")[1] is False


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.99])
def test_truncated_output_is_an_error_that_shows_its_end(kept: float) -> None:
    whole = text("tcp_client")
    with pytest.raises(ParseError, match=r"the iperf3 client.*end:"):
        parse_json(whole[: int(len(whole) * kept)], "the iperf3 client")
    with pytest.raises(ParseError, match="expected a JSON object"):
        parse_json("[1, 2]", "client")


@pytest.mark.parametrize("lacking", ["start", "end", "bytes"])
def test_what_lacks_a_field_or_has_no_number_there_is_named(lacking: str) -> None:
    parsed = content("tcp_client")
    del parsed["intervals"][0]["sum"][lacking]
    with pytest.raises(ParseError, match=rf"client: its intervals have no '{lacking}'.*newer"):
        intervals_of(parsed, "client")
    for value in ("12", True, 10**400, -(10**25)):
        parsed["intervals"][0]["sum"][lacking] = value
        with pytest.raises(ParseError, match=r"^client: found .*, expected a number of at most 64"):
            intervals_of(parsed, "client")
    for nothing in (None, [], [{"streams": []}]):
        parsed["intervals"] = nothing
        with pytest.raises(ParseError, match=r"client.* no .*newer"):
            intervals_of(parsed, "client")


def test_only_whole_intervals_of_the_window_count() -> None:
    intervals = [Interval(i / 10, (i + 1) / 10, 1, None) for i in range(10)]
    assert [i.start_s for i in within(intervals, 0.25, 0.61)] == [0.3, 0.4, 0.5]
    assert within(intervals, 0.31, 0.39) == ()


def test_what_is_no_measurement_is_a_reason_and_nan_only_a_warning() -> None:
    def report(printed: str, warnings: list[Disturbance]) -> dict[str, Any]:
        program = SimpleNamespace(output=lambda: printed)
        return _report_of(_Process("client", cast("Program", program)), warnings)

    for printed, reason in (
        (text("tcp_client")[:500], "the iperf3 client: .*, expected|end: "),
        ('{"error": "control socket has closed unexpectedly"}', "control socket has closed"),
    ):
        with pytest.raises(AttemptFailed, match=reason):
            report(printed, [])
    warnings: list[Disturbance] = []
    found = report(text("udp_client").replace("61.470784270162184", "-nan"), warnings)
    assert [warning["code"] for warning in warnings] == ["iperf3_nan"]
    assert json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("printed", "version", "threaded"),
    [
        ("iperf 3.12 (cJSON 1.7.15)\nLinux host 6.1", (3, 12), False),
        ("iperf 3.16 (cJSON 1.7.15)", (3, 16), True),
        ("iperf 3.17.1+ (cJSON 1.7.15)", (3, 17), True),
    ],
)
def test_versions_are_read(printed: str, version: tuple[int, int], threaded: bool) -> None:
    tool = judge_version("/usr/bin/iperf3", printed)
    assert tool.version == version
    assert tool.pairs(4) == ((1, 4) if threaded else (4, 1))


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("iperf 3.1.3", "too old"),
        ("", "no version of iperf 3"),
        ("iperf version 2.1.8", "no version of iperf 3"),
    ],
)
def test_what_does_not_do_is_refused_with_a_remedy(printed: str, why: str) -> None:
    with pytest.raises(Unavailable, match=why) as raised:
        judge_version("/usr/bin/iperf3", printed)
    assert raised.value.remedy == "install iperf3 3.5 or newer"
