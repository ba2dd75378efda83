"""Honest tables raise questions at most; `python -m tools.simulate_audit` is the simulation."""

import pytest

from tools.honest_tables import honest_table
from tools.simulate_audit import main, simulate


def test_what_is_found_in_honest_tables_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tables", "2"]) == 0
    assert "2 tables drawn:" in capsys.readouterr().out


@pytest.mark.slow
def test_no_honest_table_raises_more_than_a_question() -> None:
    seeds = [*range(6), 41, 50, 72, 98]  # among them such with a dozen large messages in a window
    _, alarms = simulate(map(honest_table, seeds), len(seeds))
    assert alarms == []
