"""The facts as a whole: plain, complete and true to a known run."""

import json
from pathlib import Path

import pytest
from analysed import facts_of
from synthetic import Run

from copycost.records.files import write_json

pytestmark = pytest.mark.slow


def test_facts_are_plain_json_and_counts_add_up(tmp_path: Path) -> None:
    run = Run(
        msg_bytes=(1024,),
        n_threads=(1,),
        testbeds=("veth", "loopback"),
        skipped={"veth": "not allowed"},
        failed=lambda name, size, threads, rep: rep == 1,
    )
    facts = facts_of(run)
    write_json(facts, tmp_path / "facts.json")
    text = (tmp_path / "facts.json").read_text(encoding="utf-8")
    assert json.loads(text) == facts
    assert "NaN" not in text
    counts = facts["run"]
    assert counts["n_repetitions"] == 30
    assert (counts["n_measured"], counts["n_failed"], counts["n_skipped"]) == (12, 3, 15)
    assert facts["measured_conditions"] == ["loopback"]
    assert facts["conditions"]["veth"]["skipped"][0]["remedy"] == "run as root"
    assert facts["conditions"]["loopback"]["failed"][0]["n"] == 3


def test_new_implementation_is_compared_and_breaks_nothing() -> None:
    run = Run(
        implementations=("two_copy", "send_file"),
        msg_bytes=(1024, 65536),
        n_threads=(1,),
        log_ratio=lambda name, size, threads: 0.5 if name == "send_file" else 0.0,
    )
    bed = facts_of(run)["conditions"]["veth"]
    assert [row["fastest"]["subject"] for row in bed["decisions"]["rows"]] == ["send_file"] * 2
    assert not any(one["question"] == "zero_copy" for one in facts_of(run)["findings"])
