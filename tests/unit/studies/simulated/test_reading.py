"""A record of a simulated cell that is damaged costs itself alone, whoever reads it."""

import json
from pathlib import Path

import pytest
from simulated_tables import ASSUMED, CACHES, CATEGORIES, GUEST, Truth, record_of

from copycost.config.cells import Cell
from copycost.errors import HostError
from copycost.studies.simulated import walks
from copycost.studies.simulated.reading import SIMULATED, machine_of
from copycost.studies.simulated.table import collect

SIZES = (4096, 16384, 49152)


def test_a_cell_counted_by_other_caches_costs_itself_alone(tmp_path: Path) -> None:
    paths = [tmp_path / Cell("simulated", "sink", "one_copy", size, 1).path for size in SIZES]
    for size, path in zip(SIZES, paths, strict=True):
        path.parent.mkdir(parents=True)
        record = record_of(Truth(), "sink", "one_copy", size, "hot", "plain")
        if path == paths[0]:
            record["counted"]["caches"] = CACHES | {"prefetcher": "next_line"}
        SIMULATED.kind.write(record, path)
    table, _ = collect(paths, CATEGORIES)
    assert table.drop_duplicates("msg_bytes")["status"].tolist() == ["failed", *["measured"] * 2]
    assert "another state" in table["reason"][0]
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
