"""How many threads share a CPU."""

import pytest
from analysed import inputs_of
from synthetic import Run, make_cells

from copycost.analysis.placement import Placement, placement_of
from copycost.studies.streams.facts import views_of


@pytest.mark.parametrize(
    ("sender", "receiver", "n_threads", "crowd"),
    [
        ((0, 1), (1, 0), 1, 1),
        ((0, 1), (1, 0), 2, 2),
        ((0,), (0,), 1, 2),
        ((0, 1, 2, 3), (2, 3, 0, 1), 1, 1),
        ((0, 1, 2, 3), (2, 3, 0, 1), 2, 1),
        ((0, 1, 2, 3), (2, 3, 0, 1), 3, 2),
        ((0,), (1, 2, 3), 2, 2),
    ],
)
def test_threads_of_both_sides_are_counted(
    sender: tuple[int, ...], receiver: tuple[int, ...], n_threads: int, crowd: int
) -> None:
    placement = Placement(sender, receiver)
    assert placement.threads_per_cpu(n_threads) == crowd


@pytest.mark.parametrize("text", ["any", "0;1"])
def test_threads_that_were_not_pinned_alike_have_no_placement(text: str) -> None:
    run = Run(msg_bytes=(1024,), n_threads=(1, 2))
    cells = make_cells(run)
    cells.loc[cells["n_threads"] == 2, ["sender_cpus", "receiver_cpus"]] = text
    assert placement_of(views_of(inputs_of(run, cells))["veth"]) is None
