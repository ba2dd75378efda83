"""The steps of CONTRIBUTING.md that need no compiler; tests/c/test_added.py has the others."""

import pytest
from analysed import facts_of, text_of
from synthetic import Run

from copycost.analysis import unexpected
from copycost.analysis.evidence import ONE
from copycost.analysis.expectations import EXPECTATIONS, Expectation, against_baseline
from copycost.analysis.metrics import THROUGHPUT


def test_an_entry_is_all_that_an_expectation_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Expectation(
        "one_copy_ten_times",
        "One copy has ten times the throughput of two",
        "One hopes for much.",
        "throughput",
        "below",
        lambda view: against_baseline(view, THROUGHPUT, ONE),
    )
    monkeypatch.setattr(unexpected, "EXPECTATIONS", (*EXPECTATIONS, mine))
    slower = {"one_copy": -2.0}
    facts = facts_of(
        Run(
            msg_bytes=(1024, 65536),
            n_threads=(1, 2),
            log_ratio=lambda name, size, threads: slower.get(name, 0.0),
        )
    )
    (found,) = (
        row for row in facts["findings"] if (row["subject"], row["condition"]) == (mine.id, "veth")
    )
    assert (found["n_worse"], found["n_cells"]) == (4, 4)
    assert "One copy has ten times the throughput of two" in text_of(facts, "analysis")
