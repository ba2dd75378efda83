"""Honest tables are not refuted; the whole simulation is `python -m tools.simulate_audit`."""

import pytest

from tools.honest_tables import honest_table
from tools.simulate_audit import main, simulate


def test_the_same_seed_gives_the_same_table() -> None:
    assert honest_table(3).equals(honest_table(3))
    assert not honest_table(3).equals(honest_table(4))


def test_what_is_found_in_honest_tables_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tables", "2"]) == 0
    assert "2 tables drawn:" in capsys.readouterr().out


@pytest.mark.slow
def test_honest_tables_are_not_refuted() -> None:
    _, refuted = simulate(map(honest_table, range(20)), 20)
    assert refuted == []
