"""A record of a simulated cell that is damaged costs itself alone, whoever reads it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from simulated_tables import ASSUMED, CACHES, CATEGORIES, GUEST, Truth, record_of

from copycost.config.cells import Cell
from copycost.errors import HostError
from copycost.studies.simulated import walks
from copycost.studies.simulated.reading import SIMULATED, SimulatedRecord, machine_of
from copycost.studies.simulated.table import collect

SIZES = (4096, 16384, 49152)


def made(size: int) -> SimulatedRecord:
    return record_of(Truth(), "sink", "one_copy", size, "hot", "plain")


def by_other_caches(path: Path) -> None:
    record = made(4096)
    record["counted"]["caches"] = CACHES | {"prefetcher": "next_line"}
    SIMULATED.kind.write(record, path)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda path: path.write_text("{"), "line 1"),
        (Path.unlink, "No such file"),
        (lambda path: SIMULATED.kind.write(made(16384), path), "msg_bytes=16384"),
        (by_other_caches, "another state"),
    ],
)
def test_a_record_that_cannot_be_used_costs_itself_alone(
    damage: Callable[[Path], object], why: str, tmp_path: Path
) -> None:
    paths = [tmp_path / Cell("simulated", "sink", "one_copy", size, 1).path for size in SIZES]
    for size, path in zip(SIZES, paths, strict=True):
        path.parent.mkdir(parents=True)
        SIMULATED.kind.write(made(size), path)
    damage(paths[0])
    table, _ = collect(paths, CATEGORIES)
    assert table.drop_duplicates("msg_bytes")["status"].tolist() == ["failed", *["measured"] * 2]
    assert why in table["reason"][0]
    assert machine_of(paths) == {"caches": CACHES, "guest": GUEST, "assumed": ASSUMED}


def test_without_a_guest_or_with_one_that_fails_the_walks_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise HostError("the guest did not end within 60 s")

    monkeypatch.setattr(walks, "simulate", fail)
    for status, reason, told in (
        ("skipped", "there is no kernel to boot", "there is no kernel to boot"),
        ("measured", None, "the guest did not end within 60 s"),
    ):
        (tmp_path / "made.json").write_text(json.dumps({"status": status, "reason": reason}))
        found = walks.walk_all(Path("walk"), Path("plugin"), tmp_path)
        assert (found["n"], found["reason"]) == (0, told)
