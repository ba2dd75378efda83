"""The facts of a run in which a condition was skipped and a repetition of each cell failed."""

import pytest
from analysed import facts_of
from synthetic import Run


@pytest.mark.slow
def test_what_was_measured_failed_and_skipped_adds_up() -> None:
    run = Run(
        msg_bytes=(1024,),
        n_threads=(1,),
        testbeds=("veth", "loopback"),
        skipped={"veth": "not allowed"},
        failed=lambda name, size, threads, rep: rep == 1,
    )
    facts = facts_of(run)
    counts = [
        facts["run"][f"n_{name}"] for name in ("repetitions", "measured", "failed", "skipped")
    ]
    assert counts == [30, 12, 3, 15]
    assert facts["measured_conditions"] == ["loopback"]
    assert facts["conditions"]["veth"]["skipped"][0]["remedy"] == "run as root"
    assert facts["conditions"]["loopback"]["failed"][0]["n"] == 3
