"""Panels in which an implementation has no value at all."""

from analysed import inputs_of
from synthetic import Run

from copycost.figures.output import draw
from copycost.figures.tables import tables_of


def test_a_line_without_any_point_is_left_to_its_marks() -> None:
    run = Run(failed=lambda implementation, size, threads, rep: (implementation, threads) == (
        "one_copy", 4,
    ))  # fmt: skip
    inputs = inputs_of(run)
    drawn = draw("speed_and_cost", tables_of("veth", inputs.cells, inputs.summary, inputs.ratios))
    missing = drawn.data[drawn.data["state"] == "failed"]
    assert set(missing["n_threads"]) == {4}
