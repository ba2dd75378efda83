"""A record of a simulated cell that is damaged costs itself alone, whoever reads it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from simulated_tables import ASSUMED, CACHES, CATEGORIES, GUEST, Truth, record_of

from copycost.config.cells import Cell
from copycost.errors import HostError
from copycost.records.reading import read_all
from copycost.studies.simulated import walks
from copycost.studies.simulated.reading import SIMULATED, SimulatedRecord, machine_of
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
    SIMULATED.kind.write(record, path)
    return path


def by_other_caches(path: Path) -> None:
    record = made(4096)
    counted: Any = record["counted"]
    counted["caches"] = CACHES | {"prefetcher": "next_line"}
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
@pytest.mark.parametrize("read", READERS)
def test_a_record_that_cannot_be_used_costs_itself_alone(
    read: Callable[[list[Path]], object],
    damage: Callable[[Path], object],
    why: str,
    tmp_path: Path,
) -> None:
    paths = [saved(tmp_path, made(size)) for size in SIZES]
    damage(paths[0])
    read(paths)
    lost, *others = read_all(paths, lambda record: record, SIMULATED)
    assert (lost["status"], lost["counted"]) == ("failed", None)
    assert why in str(lost["reason"])
    assert [one["status"] for one in others] == ["measured", "measured"]
    assert machine_of(paths) == {"caches": CACHES, "guest": GUEST, "assumed": ASSUMED}


def test_without_a_guest_or_with_one_that_fails_the_walks_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reason_with(outcome: dict[str, str | None]) -> str | None:
        (tmp_path / "made.json").write_text(json.dumps({"reason": None} | outcome))
        found = walks.walk_all(Path("walk"), Path("plugin"), tmp_path)
        assert found["n"] == 0
        reason: str | None = found["reason"]
        return reason

    def fail(*_: object) -> None:
        raise HostError("the guest did not end within 60 s")

    monkeypatch.setattr(walks, "simulate", fail)
    no_kernel: dict[str, str | None] = {"status": "skipped", "reason": "there is no kernel to boot"}
    assert reason_with(no_kernel) == "there is no kernel to boot"
    assert reason_with({"status": "measured"}) == "the guest did not end within 60 s"
