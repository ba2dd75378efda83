"""How the chapters of single studies write estimates, names and lists of what was lost."""

import pytest

from copycost.report.study_values import curve_name, in_cell, losses, senders

NBSP = "\N{NO-BREAK SPACE}"
ONCE = {"median": 0.2, "low": None, "high": None}
CURVE = {"testbed": "veth", "implementation": "two_copy", "limiter": "cpulimit", "n_threads": 1}


def test_an_interval_stands_behind_its_estimate() -> None:
    found = {"value": 38.2e9, "low": 37e9, "high": 39e9}
    assert in_cell(found, "gbit") == "38.2 (37.0 to 39.0)"


def test_what_has_no_interval_stands_alone() -> None:
    assert in_cell(ONCE, "percent") == f"20{NBSP}%"


def test_an_interval_that_tells_little_is_not_quoted_in_a_cell() -> None:
    vague = {"median": 0.2, "low": 0.01, "high": 0.9, "vague": True}
    assert in_cell(vague, "percent") == f"20{NBSP}% (too wide)"
    assert in_cell(None, "percent") == "not known"


@pytest.mark.parametrize(
    ("implementations", "limiters", "name"),
    [
        (["two_copy"], ["cpulimit"], "`veth` with 1 stream"),
        (["two_copy", "iperf3"], [], "`veth` with 1 stream (our sender with `two_copy`)"),
        (
            ["two_copy", "iperf3"],
            ["cgroup", "cpulimit"],
            "`veth` with 1 stream (our sender with `two_copy`, limited by `cpulimit`)",
        ),
    ],
)
def test_a_curve_is_named_by_what_there_is_several_of(
    implementations: list[str], limiters: list[str], name: str
) -> None:
    assert curve_name(CURVE, {"implementations": implementations, "limiters": limiters}) == name


def test_iperf3_is_named_with_its_version() -> None:
    section = {"implementations": ["iperf3", "two_copy"]}
    assert senders({"versions": ["3.12"], "section": section}).startswith("iperf3 3.12 and our")
    assert senders({"versions": [], "section": section}).startswith("iperf3 and our")


def test_a_reason_cannot_break_out_of_its_cell() -> None:
    loss = {"status": "failed", "n": 2, "testbed": ["veth"], "reason": "a | b", "remedy": None}
    text = losses([loss], "streams")
    assert "| failed | 2 | `veth` | a \\| b |" in text
    assert losses([], "streams") == ""
