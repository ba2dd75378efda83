"""What an iperf3 process printed, before it is taken for a measurement."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from copycost.hosts.host import Program
from copycost.measure.drivers.iperf3.driver import _Process, _report_of
from copycost.measure.drivers.protocol import NoMeasurement
from copycost.records.record import Disturbance

DATA = Path(__file__).parents[4] / "data" / "iperf3"


class Printed:
    """What is left of a program."""

    def __init__(self, text: str) -> None:
        self._text = text

    def output(self) -> str:
        return self._text


def report(text: str) -> tuple[dict[str, Any], list[Disturbance]]:
    warnings: list[Disturbance] = []
    return _report_of(_Process("client", cast("Program", Printed(text))), warnings), warnings


def captured(name: str) -> str:
    return (DATA / f"{name}.json").read_text(encoding="utf-8")


def test_output_that_was_cut_off_is_a_failure() -> None:
    with pytest.raises(NoMeasurement) as refused:
        report(captured("tcp_client")[:500])
    verdict = refused.value.verdict
    assert verdict.status == "failed"
    assert "the iperf3 client" in verdict.reason


def test_nan_is_a_warning_and_no_failure() -> None:
    content, warnings = report(captured("udp_client").replace("61.470784270162184", "-nan"))
    assert [warning["code"] for warning in warnings] == ["iperf3_nan"]
    assert json.dumps(content, allow_nan=False)


def test_an_error_that_iperf3_reports_is_the_reason() -> None:
    with pytest.raises(NoMeasurement, match="control socket has closed"):
        report('{"error": "control socket has closed unexpectedly"}')
