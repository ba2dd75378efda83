"""The command ``plan``."""

import json
from pathlib import Path

import pytest
from budgets import Study, Truth, facts_of

from copycost.__main__ import main


@pytest.fixture
def facts(tmp_path: Path) -> str:
    path = tmp_path / "facts.json"
    study = Study((Truth(), Truth(testbed="veth", gbps_per_percent=0.2)))
    path.write_text(json.dumps(facts_of(study)), encoding="utf-8")
    return str(path)


def test_it_names_the_cpu_of_both_sides(facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--gbps", "10", "--testbed", "veth", "--facts", facts]) == 0
    said = capsys.readouterr().out
    assert said.startswith("veth: 10 Gbit/s takes 50")
    assert "at the sender" in said
    assert "at the receiver" in said
    assert "1 stream of iperf3 (on the fitted line; in brackets 95 % intervals)" in said


def test_without_a_testbed_it_answers_for_all(
    facts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--gbps", "10", "--facts", facts]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["loopback", "veth"]


def test_between_two_points_it_says_whose_intervals_these_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = facts_of(Study((Truth(bend=0.0006, noise=0.002),)))
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    ends = [point["bits_per_s"]["median"] for point in made["curves"][0]["points"][-2:]]
    assert main(["plan", "--gbps", str(sum(ends) / 2e9), "--facts", str(path)]) == 0
    assert "95 % intervals of the CPU that these took)" in capsys.readouterr().out


def test_beyond_what_was_measured_it_says_so(
    facts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--gbps", "100", "--testbed", "veth", "--facts", facts]) == 1
    said = capsys.readouterr().out
    assert "100 Gbit/s is beyond what was measured; the highest was 19.9 Gbit/s" in said


def test_an_unknown_testbed_is_an_error_with_the_known_ones(
    facts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--gbps", "1", "--testbed", "moon", "--facts", facts]) == 1
    assert "only on loopback, veth" in capsys.readouterr().err


def test_nothing_measured_yet_is_an_error_with_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--gbps", "1", "--facts", str(tmp_path / "none.json")]) == 1
    assert "measure first: ./run cpu_budget" in capsys.readouterr().err


@pytest.mark.parametrize("gbps", ["0", "-1", "inf", "fast"])
def test_what_is_no_bitrate_is_refused(gbps: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--gbps", gbps])
    assert ended.value.code == 2
    assert f"{gbps} is no bitrate, must be above 0" in capsys.readouterr().err
