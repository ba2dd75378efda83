"""What somebody adds, as CONTRIBUTING.md says: a file more, and it is built and works."""

import shutil
from pathlib import Path

import pytest
from c.conftest import ROOT
from c.harness import Setting, run_pair

from copycost.build import toolchain

STRATEGY = ROOT / "tests/data/strategies/field_by_field.c"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the sources with a strategy and a receiver more."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    shutil.copy(STRATEGY, tmp_path / "src/strategies")
    text = (ROOT / "src/receivers/trunc.c").read_text()
    discard = text.replace('"trunc"', '"discard"').replace("trunc_", "discard_")
    (tmp_path / "src/receivers/discard.c").write_text(discard)
    return tmp_path


def test_a_file_is_all_that_a_strategy_or_a_receiver_takes(sources: Path) -> None:
    assert set(toolchain.strategies(sources)) - set(toolchain.strategies(ROOT)) == {STRATEGY.stem}
    assert set(toolchain.receivers(sources)) - set(toolchain.receivers(ROOT)) == {"discard"}
    programs = sources / "sender", sources / "receiver"
    toolchain.compile_program("sender", STRATEGY.stem, programs[0], root=sources, werror=True)
    toolchain.compile_program("receiver", "discard", programs[1], root=sources, werror=True)
    ended = run_pair(*programs, Setting(n_threads=2, duration_s=0.05))
    sent, received = (outcome.result for outcome in ended)
    assert (sent["strategy"], received["receiver"]) == (STRATEGY.stem, "discard")
    assert received["total"]["bytes"] == sent["total"]["bytes"] > 0
