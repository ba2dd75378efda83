"""The shape of throughput over the threads."""

import numpy as np
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
    (group,) = question["shapes"]
    assert (group["n_steps"], group["fewest"], group["most"], group["gains_up_to"]) == (2, 1, 4, 2)
    wholes = [row["value"] for row in question["wholes"]]
    assert [question["lowest"]["value"], question["highest"]["value"]] == [min(wholes), max(wholes)]


def test_implementation_that_goes_the_other_way_is_named() -> None:
    """What all of them do together need not be what each of them does."""

    def truth(name: str, size: int, threads: int) -> float:
        return {"zero_copy": -0.5, "one_copy": 0.2}.get(name, 0.0) * (threads - 1)

    run = Run(
        msg_bytes=(1024, 65536),
        n_threads=(1, 2),
        noise=0.005,
        log_ratio=truth,
        scaling=lambda n_threads: 1.3,
    )
    facts = facts_of(run)
    here = facts["conditions"]["veth"]
    assert here["evidence"]["cost_grows_with_threads"]["weight"] == "shown"
    apart = here["questions"]["q3"]["apart"]
    assert [row["implementation"] for row in apart["cost"]] == ["one_copy"]
    assert apart["cost"][0]["value"] == pytest.approx(np.exp(-0.2), rel=0.05)


def test_nobody_goes_the_other_way_where_all_are_alike() -> None:
    run = Run(msg_bytes=(1024, 65536), n_threads=(1, 2), noise=0.005)
    apart = facts_of(run)["conditions"]["veth"]["questions"]["q3"]["apart"]
    assert apart["cost"] == []
