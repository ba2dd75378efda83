"""Records of simulated cells that are damaged are all told at once, by all who read them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from simulated_tables import ASSUMED, CACHES, CATEGORIES, GUEST, Truth, record_of

from copycost.errors import DataError
from copycost.grid.cells import Cell
from copycost.studies.simulated.reading import machine_of, simulated_problem
from copycost.studies.simulated.record import SimulatedRecord, write_simulated
from copycost.studies.simulated.table import collect

SIZES = (4096, 16384, 49152)
READERS: tuple[Callable[[list[Path]], object], ...] = (
    lambda paths: collect(paths, CATEGORIES),
    machine_of,
)


def place_of(folder: Path, size: int) -> Path:
    return folder / Cell("simulated", "sink", "one_copy", size, 1).path


def made(size: int) -> SimulatedRecord:
    return record_of(Truth(), "sink", "one_copy", size, "hot", "plain")


def saved(folder: Path, record: SimulatedRecord) -> Path:
    path = place_of(folder, record["cell"]["msg_bytes"])
    path.parent.mkdir(parents=True)
    write_simulated(record, path)
    return path


def with_misses(kind: str, prefetcher: str = "none", **misses: int) -> SimulatedRecord:
    """Return a record of which one function misses that often."""
    record = made(4096)
    counted: Any = record["counted"]
    counted["caches"] = CACHES | {"prefetcher": prefetcher}
    counted["functions"]["sender"][1][f"{kind}_misses"] = misses
    return record


@pytest.mark.parametrize("read", READERS)
def test_all_damaged_records_are_told_at_once_with_the_remedy(
    read: Callable[[list[Path]], object], tmp_path: Path
) -> None:
    paths = [saved(tmp_path, made(size)) for size in SIZES]
    read(paths)
    paths[0].write_text("{")
    paths[1].unlink()
    write_simulated(made(4096), paths[2])
    with pytest.raises(DataError) as caught:
        read(paths)
    first, gone, elsewhere, remedy = str(caught.value).splitlines()
    assert first.startswith(f"{paths[0]}, line 1: ")
    assert gone.startswith(f"{paths[1]}: cannot be read (No such file or directory)")
    assert elsewhere.startswith(f"{paths[2]}: holds the cell")
    assert remedy == "./run retry-failed measures just these again"


def test_a_record_that_no_table_takes_is_measured_again(tmp_path: Path) -> None:
    path = saved(tmp_path, made(4096))
    assert simulated_problem(path) is None
    write_simulated(made(16384), path)
    assert "expected the one that its path names" in str(simulated_problem(path))


@pytest.mark.parametrize("prefetcher", ["none", "next_line"])
@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize(
    ("misses", "said"),
    [
        ({"l1d": 5, "l2": 6, "llc": 0}, "miss l2 6 times and l1d 5;"),
        ({"l1d": 5, "l2": 4, "llc": 5}, "miss llc 5 times and l2 4;"),
    ],
)
def test_a_level_that_misses_more_than_the_one_before_is_a_contradiction(
    prefetcher: str, kind: str, misses: dict[str, int], said: str, tmp_path: Path
) -> None:
    path = saved(tmp_path, with_misses(kind, prefetcher, **misses))
    problem = str(simulated_problem(path))
    assert f"{path}: {kind}s of the sender's do_syscall_64 {said}" in problem
    for read in READERS:
        with pytest.raises(DataError, match="the record was damaged: delete it"):
            read([path])


def test_levels_that_miss_equally_often_are_none(tmp_path: Path) -> None:
    path = saved(tmp_path, with_misses("load", l1d=5, l2=5, llc=5))
    assert simulated_problem(path) is None
    assert machine_of([path]) == {
        "caches": CACHES | {"prefetcher": "none"}, "guest": GUEST, "assumed": ASSUMED,
    }  # fmt: skip
