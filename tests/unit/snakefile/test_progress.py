from pathlib import Path

import pytest

from copycost.snakefile import progress

WINDOW = {"warmup_s": 0.2, "duration_s": 1.0}


def tell(line: str = "a repetition") -> str:
    return progress.count_in(line, progress.STREAMS, WINDOW)


def test_each_repetition_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress.VARIABLE, "")  # so that what `begin` sets is taken away again
    said = progress.begin(tmp_path / "logs" / "progress.json", n_repetitions=12, expected_s=19.8)
    assert said == "copycost: measuring 12 repetitions, which takes about 20 s."
    lines = [tell() for _ in range(12)]
    assert lines[0].startswith("[ 1/12] a repetition, 11 left, about ")
    assert lines[-1] == "[12/12] a repetition, 0 left"


def test_a_result_is_told_although_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    assert tell() == "a repetition"


def test_a_counter_that_was_lost_costs_no_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "gone.json"))
    assert tell() == "a repetition"


def test_the_rest_is_expected_at_the_pace_so_far() -> None:
    run = progress.Progress(total=4, expected_s=8.0)
    assert run.left_s(now_s=100.0) == 8.0
    run = run.after(expected_s=1.0, now_s=100.0)
    assert run.left_s(now_s=100.0) == pytest.approx(7.0)
    run = run.after(expected_s=3.0, now_s=101.0)  # it took a third of that
    assert (run.done, run.left) == (2, 2)
    assert run.left_s(now_s=101.0) == pytest.approx(4.0 * 2.0 / 4.0)


def test_repetitions_of_all_studies_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, "")
    progress.begin(tmp_path / "progress.json", n_repetitions=2, expected_s=6.05)
    tell()
    progress.extend(1, 1.65)
    pace = progress.pace_of_profile("one_copy")
    line = progress.count_in("profile", pace, WINDOW)
    assert line.startswith("[2/3] profile, 1 left, about ")


def test_a_profile_of_iperf3_is_expected_to_take_longer_than_one_of_ours() -> None:
    ours, iperf3 = (progress.pace_of_profile(name) for name in ("two_copy", "iperf3"))
    assert ours.expected_s(1.2) == pytest.approx(3.4)
    assert iperf3.expected_s(1.2) == pytest.approx(7.6)


def test_nothing_to_measure_is_said() -> None:
    assert "measure nothing, and do 1 other job" in progress.forecast(0, 0.0, 1)
    assert "measure 1 repetition," in progress.forecast(1, 1.5, 2)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 s"), (40, "40 s"), (89, "89 s"), (378, "6 min"), (9600, "2 h 40 min")],
)
def test_durations_are_said_as_people_do(seconds: float, text: str) -> None:
    assert progress.format_duration(seconds) == text
