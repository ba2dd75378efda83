"""What throughput does with the threads, and what is said of it."""

import math

import pytest
from analysed import asked, facts_of
from synthetic import Run

from copycost.analysis.finding import Finding

pytestmark = pytest.mark.slow

SIZES = (1024, 65536)


def threads_of(run: Run) -> list[Finding]:
    return asked(facts_of(run), "threads")


def test_sizes_that_part_have_no_mean() -> None:
    """What rises with small messages and falls with large ones has no course of its own."""

    def truth(name: str, size: int, threads: int) -> float:
        return (0.3 if size < 4096 else -0.3) * math.log2(threads)

    run = Run(
        msg_bytes=(256, 1024, 16384, 65536),
        n_threads=(1, 2, 4),
        log_ratio=truth,
        scaling=lambda n_threads: 1.0,
    )
    for found in threads_of(run):
        assert (found.verdict, found.estimate) == ("by_size", None)
        assert found.reason("cpus_in_use") is None


def test_cells_that_contradict_each_other_have_no_growth() -> None:
    def switches(row: dict[str, float]) -> float:
        grown = 2.0 if row["msg_bytes"] < 4096 else 0.5
        return 0.01 * grown ** (row["n_threads"] - 1) * (1 + 0.001 * row["rep"])

    changes = {"context_switches_per_message": switches}
    run = Run(msg_bytes=SIZES, n_threads=(1, 2), noise=0.005, changes=changes)
    for found in threads_of(run):
        grown = found.reason("context_switches_per_message")
        assert grown is not None
        assert (grown.verdict, grown.estimate) == ("cells_disagree", None)
