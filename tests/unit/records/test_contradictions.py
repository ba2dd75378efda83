"""Records whose numbers contradict one another, and damaged ones, are refused in a sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from sample_records import on_sink, sample_record

from copycost.errors import CopycostError, DataError
from copycost.grid.cells import Cell
from copycost.records.derive import derive_row
from copycost.records.reading import problem_of, read_all
from copycost.records.record import Record
from copycost.records.table import make_table
from tests.mutations import mutated_texts, mutated_trees

pytestmark = pytest.mark.slow

CAPTURED = sorted((Path(__file__).parents[2] / "data" / "records").glob("*.json"))
N_TEXTS, N_TREES = 25, 50


def scaled(*path: str, by: int) -> Callable[[dict[str, Any]], None]:
    """Return what multiplies a value of a record."""

    def scale(record: dict[str, Any]) -> None:
        *sections, key = path
        for section in sections:
            record = record[section]
        record[key] *= by

    return scale


def windowless(record: dict[str, Any]) -> None:
    window = record["driver"]["receiver"]["window"]
    window["end_ns"] = window["half_ns"] = window["start_ns"]


def infinite(record: dict[str, Any]) -> None:
    record["observed"]["perf_stat"]["sender"]["events"]["cycles"]["value"] = float("inf")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            scaled("driver", "sender", "in_window", "bytes", by=3),
            "the sender counted bytes 3932160000 times",
        ),
        (
            scaled("driver", "sender", "total", "bytes", by=3),
            "24000 messages of 65536 bytes are 4718592000",
        ),
        (
            scaled("driver", "sender", "total", "messages", by=3),
            "72000 messages of 65536 bytes are 1572864",
        ),
        (
            scaled("driver", "receiver", "total", "bytes", by=3),
            "4718592000 bytes were received in all, 1572",
        ),
        (
            scaled("driver", "receiver", "in_window", "bytes", by=0),
            "the receiver has more bytes in the first",
        ),
        (
            scaled("driver", "sender", "process", "cpu_ns", by=3),
            "the sender's CPU time is 2700000000 ns, it",
        ),
        (
            scaled("driver", "sender", "process", "user_ns", by=9),
            "the sender's CPU time is 900000000 ns, it",
        ),
        (
            scaled("observed", "perf_stat", "sender", "events", "task_clock_ns", "value", by=3),
            "the sender used 2850000000 ns of 1 CPUs in 1000000000 ns",
        ),
        (
            scaled("observed", "perf_stat", "receiver", "events", "cycles", "value", by=-1),
            "the receiver's cycles is -3000000000.0",
        ),
        (infinite, "the sender's cycles is inf"),
        (windowless, "the receiver's window lasts 0 ns"),
        (
            scaled("driver", "sender", "zero_copy", "completed", by=2),
            "of 24000 zero-copy sends 48000 completed and 18000 were copied",
        ),
    ],
)
def test_numbers_that_contradict_one_another_are_refused(
    damage: Callable[[dict[str, Any]], None], said: str
) -> None:
    record = sample_record("zero_copy")
    derive_row(cast("Record", record))
    damage(record)
    with pytest.raises(DataError, match=r"the record was damaged: delete it") as caught:
        derive_row(cast("Record", record))
    assert said in str(caught.value)


def test_io_uring_has_threads_of_the_kernel_besides() -> None:
    record = sample_record("uring_send")
    process = record["driver"]["sender"]["process"]
    process |= {"cpu_ns": 1_900_000_000, "system_ns": 1_800_000_000}
    derive_row(cast("Record", record))
    record["cell"]["implementation"] = "one_copy"
    with pytest.raises(DataError, match="used 1900000000 ns of 1 CPUs"):
        derive_row(cast("Record", record))


def test_what_is_under_way_at_an_edge_is_no_contradiction() -> None:
    record = on_sink(sample_record("sendmmsg_x16", msg_bytes=2048))
    record["driver"]["sender"]["in_window"]["messages"] -= 17
    derive_row(cast("Record", record))
    record["driver"]["sender"]["in_window"]["messages"] -= 1
    with pytest.raises(DataError, match="19982 messages of 2048 bytes are 40960000 bytes"):
        derive_row(cast("Record", record))


def test_all_damaged_records_are_told_at_once_with_the_remedy(tmp_path: Path) -> None:
    paths = []
    for rep in range(1, 8):
        record = sample_record(rep=rep)
        scaled("driver", "sender", "total", "bytes", by=3)(record)
        paths.append(tmp_path / Cell(record["study"], **record["cell"]).path)
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_text(json.dumps(record))
    with pytest.raises(DataError) as caught:
        read_all(paths, derive_row)
    lines = str(caught.value).splitlines()
    assert [str(path) in line for path, line in zip(paths, lines[:5], strict=False)] == [True] * 5
    assert lines[5:] == [
        "and 2 more records like these",
        "./run retry-failed measures just these again",
    ]
    assert str(problem_of(paths[6])).startswith(f"{paths[6]}: 24000 messages")


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: path.stem)
def test_a_damaged_record_is_a_row_or_a_sentence(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    whole = json.loads(text)
    place = tmp_path / Cell(whole["study"], **whole["cell"]).path
    place.parent.mkdir(parents=True)
    place.write_text(text)
    assert problem_of(place) is None
    damaged = [
        *mutated_texts(text, N_TEXTS, seed=1),
        *map(json.dumps, mutated_trees(whole, N_TREES, seed=2)),
    ]
    refused = []
    for found in damaged:
        place.write_text(found, encoding="utf-8")
        try:
            make_table(read_all([place], derive_row))
        except CopycostError as error:
            refused.append(str(error))
    assert len(damaged) / 2 < len(refused) < len(damaged)
    assert all(len(sentence) < 1500 for sentence in refused)
