"""The chapter's text of every branch, as it stands in tests/golden/datagrams.

After an intended change: ``COPYCOST_UPDATE_GOLDEN=1 pytest tests/unit/datagrams``, then read the
difference before committing it.
"""

import os
from pathlib import Path

import pytest
from budgets import text_of
from datagram_tables import facts_of
from golden.datagram_scenarios import SCENARIOS

GOLDEN = Path(__file__).parents[2] / "golden" / "datagrams"
UPDATE = os.environ.get("COPYCOST_UPDATE_GOLDEN") == "1"


@pytest.mark.parametrize("name", SCENARIOS)
def test_text_is_the_golden_one(name: str) -> None:
    text = text_of(facts_of(SCENARIOS[name]), "datagrams")
    path = GOLDEN / f"{name}.md"
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no golden text for {name}; see the head of this file"
    assert text == path.read_text(encoding="utf-8")


def test_every_golden_text_has_its_scenario() -> None:
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(SCENARIOS)
