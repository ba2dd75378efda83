"""The facts as a whole: plain, complete and true to a known run."""

import json
from pathlib import Path

import pytest
from analysed import facts_of
from synthetic import Run, Udp

from copycost.records.files import write_json

pytestmark = pytest.mark.slow


def test_facts_are_plain_json(tmp_path: Path) -> None:
    facts = facts_of(Run(msg_bytes=(1024, 65536), n_threads=(1,)))
    write_json(facts, tmp_path / "facts.json")
    text = (tmp_path / "facts.json").read_text(encoding="utf-8")
    assert json.loads(text) == facts
    assert "NaN" not in text


def test_known_crossover_is_found() -> None:
    facts = facts_of(Run(repetitions=10))
    for row in facts["conditions"]["veth"]["crossovers"]["one_copy_vs_two_copy"]["by_threads"]:
        assert row["outcome"] == "from"
        # The truth: the log ratio is 0 at 8 KiB (see synthetic.run).
        assert row["change"]["below_bytes"] < 8192 < row["change"]["above_bytes"]


def test_sink_without_a_receiver_leaves_no_counter_partly_counted() -> None:
    counters = facts_of(Run(msg_bytes=(16384,), n_threads=(1,), udp=Udp()))["counters"]
    assert counters["context_switches"]["status"] == "counted"
    assert "partly" not in {counter["status"] for counter in counters.values()}


def test_run_counts_add_up() -> None:
    run = Run(
        msg_bytes=(1024,),
        n_threads=(1,),
        testbeds=("veth", "loopback"),
        skipped={"veth": "not allowed"},
        failed=lambda name, size, threads, rep: rep == 1,
    )
    facts = facts_of(run)
    counts = facts["run"]
    assert counts["n_repetitions"] == 18
    assert (counts["n_measured"], counts["n_failed"], counts["n_skipped"]) == (6, 3, 9)
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
    assert [row["fastest"]["ways"][0] for row in bed["decisions"]["rows"]] == ["send_file"] * 2
    assert bed["questions"]["q1"]["verdict"] == "not_measured"
