"""What is said of a pair along the sizes and over the thread counts."""

import math

import pytest
from analysed import asked, facts_of, text_of
from synthetic import Run

pytestmark = pytest.mark.slow

SIZES = (256, 1024, 4096, 16384, 65536)


def test_place_over_all_thread_counts_is_the_span_of_their_brackets() -> None:
    run = Run(
        msg_bytes=SIZES, n_threads=(1, 2), noise=0.003, repetitions=5,
        log_ratio=lambda name, size, n: (
            0.03 * (math.log2(size * n * n) - 12.4) if name == "one_copy" else 0.0
        ),
    )  # fmt: skip
    facts = facts_of(run)
    (found,) = (one for one in asked(facts, "crossover", "veth") if one.subject == "one_copy")
    by_threads = facts["conditions"]["veth"]["crossovers"]["one_copy_vs_two_copy"]["by_threads"]
    assert found.verdict == "from"
    assert [row["sizes"]["better"][0] for row in by_threads] == [16384, 4096]
    assert (found.below_bytes, found.above_bytes) == (1024, 16384)
    assert found.open_bytes == (4096,)


def test_a_stretch_with_a_gap_is_not_told_by_its_end() -> None:
    def dents(name: str, size: int, n_threads: int) -> float:
        return {256: -0.3, 4096: 0.0}.get(size, 0.3) * (name == "one_copy")

    run = Run(msg_bytes=SIZES, n_threads=(1,), repetitions=5, noise=0.02, log_ratio=dents)
    facts = facts_of(run)
    text = text_of(facts, "decisions", "analysis").replace("\u00a0", " ")
    assert "from 1 KiB up" not in text
    said = "from a size between 256 B and 1 KiB, 4 KiB open, on `veth`."
    assert said in text
