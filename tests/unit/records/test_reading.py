"""What no machine can give is refused, what is odd is not; a record costs no more than itself."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from sample_records import on_sink, sample_record
from skipped_records import save

from copycost.config.cells import Cell
from copycost.errors import DataError
from copycost.records import files, table
from copycost.records.derive import derive_row
from copycost.records.files import LOST
from copycost.records.reading import REPETITIONS, UNUSABLE, foreign_files, read_all
from copycost.records.record import Record, check_record, load_record, read_record, write_record
from copycost.records.table import collect_tables, make_table, read_table
from tests.mutations import mutated_texts, mutated_trees

RECORDS = {
    path.stem: json.loads(path.read_text())
    for path in (Path(__file__).parents[2] / "data/records").glob("*.json")
} | {"sink": on_sink(sample_record("zero_copy"))}
N_TEXTS, N_TREES = 25, 50


def scaled(*path: str, by: float) -> Callable[[dict[str, Any]], None]:
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


def no_count(record: dict[str, Any]) -> None:
    record["observed"]["perf_stat"]["sender"]["events"]["cycles"]["value"] = "many"


CYCLES = ("observed", "perf_stat", "sender", "events", "cycles", "value")
TOO_MANY = scaled("driver", "receiver", "total", "bytes", by=3)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (TOO_MANY, "4718592000 bytes were received"),
        (scaled(*CYCLES, by=float("inf")), "sender_cycles is inf, which cannot be"),
        (windowless, "the receiver's window lasts 0 ns"),
        (scaled("driver", "sender", "zero_copy", "copied", by=2), "zc_copied_share is 1.5, which"),
    ],
)
def test_what_no_machine_can_give_is_refused(
    damage: Callable[[dict[str, Any]], None], said: str
) -> None:
    record = sample_record("zero_copy")
    # what is odd is a row: waiting for a CPU between the look at one clock and at the other
    scaled("driver", "sender", "process", "cpu_ns", by=1.5)(record)
    make_table([derive_row(cast("Record", record))])
    damage(record)
    with pytest.raises(DataError) as caught:
        derive_row(cast("Record", record))
    assert said in str(caught.value)


def saved(folder: Path, record: dict[str, Any]) -> Path:
    return save(folder, Cell(record["study"], **record["cell"]), cast("Record", record))


def that_cannot_be(path: Path) -> None:
    record = sample_record(rep=1)
    windowless(record)
    write_record(cast("Record", record), path)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda path: path.write_text(path.read_text()[:800]), "line 38: Unterminated string"),
        (lambda path: path.write_text(path.read_text().replace("cubic", "bbr")), "was changed"),
        (lambda path: path.write_bytes(b"\x89PNG"), "is not UTF-8"),
        (
            lambda path: write_record(sample_record(rep=1, host_digest="c" * 64), path),
            "another host, or another state of this one",
        ),
        (lambda path: write_record(sample_record(rep=9), path), "another repetition (rep=9)"),
        (that_cannot_be, "the receiver's window lasts 0 ns"),
        (Path.unlink, "No such file"),
    ],
    ids=["cut", "edited", "foreign", "other host", "other cell", "impossible", "gone"],
)
def test_a_record_that_cannot_be_used_costs_itself_alone(
    damage: Callable[[Path], object], why: str, tmp_path: Path
) -> None:
    paths = [saved(tmp_path, sample_record(rep=rep)) for rep in (1, 2, 3)]
    damage(paths[0])
    left = paths[0].read_bytes() if paths[0].exists() else None
    rows = read_all(paths, derive_row)
    assert make_table(rows)["status"].tolist() == ["failed", "measured", "measured"]
    reason = str(rows[0]["reason"])
    assert reason.startswith(LOST)
    assert why in reason
    aside = tmp_path / "results" / "aside"
    place = aside / paths[0].relative_to(tmp_path / "results")
    assert (place.read_bytes() if place.exists() else None) == left
    if left is not None:
        assert str(paths[0].relative_to(tmp_path / "results")) in (aside / "README").read_text()
    # what lies in its place is a record like any other, and nothing is set aside twice
    assert read_record(paths[0])["reason"] == reason
    assert read_all(paths, derive_row) == rows


def test_records_of_the_grid_are_rows_and_foreign_files_are_warned_of(tmp_path: Path) -> None:
    paths = [saved(tmp_path, sample_record(rep=rep, start_ns=rep * 10**10)) for rep in (1, 2)]
    saved(tmp_path, sample_record(msg_bytes=512))  # a size that the grid no longer has
    raw = tmp_path / "results/raw"
    (raw / "notes.txt").write_text("mine")
    (paths[0].parent / ".rep=1.json.partial").write_text("{")
    names = [Path(sentence.partition(": ")[0]).name for sentence in foreign_files(raw)]
    assert names == ["notes.txt", ".rep=1.json.partial"]
    collect_tables(paths, tmp_path / "cells.csv", tmp_path / "cells.parquet")
    for name in ("cells.csv", "cells.parquet"):
        table = read_table(tmp_path / name)
        assert table["rep"].tolist() == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_a_damaged_record_is_a_row_or_a_sentence(name: str) -> None:
    whole = RECORDS[name]
    place = Path("mutated.json")
    make_table([derive_row(check_record(whole, place))])
    damaged = [
        *mutated_texts(json.dumps(whole), N_TEXTS, seed=1),
        *map(json.dumps, mutated_trees(whole, N_TREES, seed=2)),
    ]
    refused = 0
    for found in damaged:
        try:
            row = derive_row(check_record(load_record(found.encode(), place), place))
        except UNUSABLE:
            refused += 1
        else:
            make_table([row])
    assert len(damaged) / 2 < refused < len(damaged)


def test_what_a_step_cannot_read_is_noted_to_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[Path] = []
    for module in (files, table):
        monkeypatch.setattr(module, "unread", noted)
    damaged = tmp_path / "facts.json", tmp_path / "cells.csv", tmp_path / "cells.parquet"
    for path in damaged:
        path.write_bytes(b"{")
    with pytest.raises(ValueError, match="Expecting property name"):
        files.read_json(damaged[0])
    for path in damaged[1:]:
        with pytest.raises(DataError):
            table.read_table(path)
    assert noted == [*damaged]


@pytest.mark.parametrize("damage", [TOO_MANY, scaled("lock_wait_s", by=float("nan")), no_count])
@pytest.mark.parametrize(("n_damaged", "status"), [(1, "measured"), (5, "failed")])
def test_what_a_job_cannot_use_of_what_it_measured_it_measures_again_a_few_times(
    n_damaged: int, status: str, damage: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    damaged, path = sample_record(), tmp_path / Cell("streams", **sample_record()["cell"]).path
    damage(damaged)
    left = iter([*[damaged] * n_damaged, sample_record(), sample_record()])
    measure = partial(next, left)
    record = REPETITIONS.measured(path, cast("Any", measure), derive_row)
    check_record(record, path)
    assert record["status"] == status
    if status == "measured":
        assert len(list(left)) == 1, "what can be used is not measured again"
    else:
        assert len(list(left)) == 5 + 2 - 3
        assert str(record["reason"]).startswith("3 tries gave nothing of use: ")
        assert (record["driver"], record["host_digest"]) == (None, damaged["host_digest"])
