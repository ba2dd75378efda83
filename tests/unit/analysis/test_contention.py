"""The shape of throughput over the threads."""

import pytest
from analysed import facts_of
from synthetic import Run

from copycost.analysis.questions.contention import _shape


@pytest.mark.parametrize(
    ("signs", "shape"),
    [
        ([1, 1], "gains"),
        ([0, 0], "flat"),
        ([-1, -1], "falls"),
        ([0, -1], "falls"),
        ([1, 0, 0], "gains_then_flat"),
        ([1, 0, -1], "gains_then_falls"),
        ([0, 1, 0], "gains_somewhere"),
        ([1, 0, 1], "gains_somewhere"),
        ([1, -1, 1], "mixed"),
        ([-1, 1], "mixed"),
    ],
)
def test_shape(signs: list[int], shape: str) -> None:
    assert _shape(signs) == shape


def test_known_scaling_is_found() -> None:
    run = Run(
        msg_bytes=(1024, 65536),
        n_threads=(1, 2, 4),
        noise=0.005,
        scaling=lambda n_threads: {1: 1.0, 2: 1.8, 4: 1.2}[n_threads],
    )
    question = facts_of(run)["conditions"]["veth"]["questions"]["q3"]
    assert question["verdict"] == "gains_then_falls"
    assert {row["gains_up_to"] for row in question["by_implementation"]} == {2}
    assert question["by_implementation"][0]["steps"][0]["value"] == pytest.approx(1.8, rel=0.05)
