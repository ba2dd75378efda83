import pytest

from copycost.config import Config, Cpus, Measure, Report, Statistics, Streams
from copycost.errors import DataError
from copycost.grid import Cell, Grid, cell_priority

CELL = Cell("streams", "veth", "one_copy", 65536, 4, 1)
PATH = (
    "results/raw/streams/testbed=veth/implementation=one_copy/msg_bytes=65536/n_threads=4"
    "/rep=1.json"
)


def config(repetitions: int = 3, msg_bytes: tuple[int, ...] = (1024, 65536)) -> Config:
    return Config(
        streams=Streams(("two_copy", "one_copy"), ("veth",), msg_bytes, (1, 4)),
        measure=Measure(
            repetitions, 0.1, 1.0, "cubic", "kernel", None, None, Cpus(None, None), order_seed=1
        ),
        statistics=Statistics(0.95, 1000, 1),
        report=Report("title", ("html",)),
    )


def test_a_cell_and_its_path_say_the_same() -> None:
    assert CELL.path == PATH
    assert Cell.from_path(PATH) == CELL
    assert Cell.from_path(f"/somewhere/else/{PATH}") == CELL


@pytest.mark.parametrize(
    "path", ["notes.json", PATH.replace("rep=1", "rep=0"), PATH.removesuffix("on"), f"{PATH}.new"]
)
def test_what_is_no_record_is_refused(path: str) -> None:
    with pytest.raises(DataError, match="not the path of a record"):
        Cell.from_path(path)


def test_the_grid_has_every_combination_once_in_order() -> None:
    grid = Grid.of(config())
    assert len(grid.cells) == 2 * 2 * 2 * 3
    assert list(grid.cells) == sorted(set(grid.cells))
    assert len(set(grid.paths())) == len(grid.cells)


def in_order(grid: Grid, seed: int = 1) -> list[Cell]:
    return sorted(grid.cells, key=lambda cell: -cell_priority(cell, seed))


def test_every_round_comes_before_the_next() -> None:
    rounds = [cell.rep for cell in in_order(Grid.of(config()))]
    assert rounds == sorted(rounds)


def test_rounds_are_shuffled_each_in_its_own_way() -> None:
    cells = in_order(Grid.of(config(msg_bytes=(256, 1024, 65536))))
    names = [cell.path.removesuffix(f"/rep={cell.rep}.json") for cell in cells]
    first, second = names[: len(names) // 3], names[len(names) // 3 : 2 * len(names) // 3]
    assert sorted(first) == sorted(second)
    assert first != sorted(first)
    assert first != second


def test_the_order_comes_from_the_seed() -> None:
    grid = Grid.of(config())
    assert in_order(grid) == in_order(grid)
    assert in_order(grid) != in_order(grid, seed=2)


def test_adding_cells_leaves_the_order_of_the_others() -> None:
    small, large = Grid.of(config()), Grid.of(config(msg_bytes=(256, 1024, 65536)))
    kept = [cell for cell in in_order(large) if cell in small.cells]
    assert kept == in_order(small)


def test_whatever_does_not_measure_goes_first() -> None:
    assert all(cell_priority(cell, 1) < 0 for cell in Grid.of(config()).cells)
