"""What records say is kept between runs, and read again where anything may have changed."""

import os
from pathlib import Path
from typing import cast

import pytest
from sample_records import sample_record

from copycost.records.record import Record, cell_of, write_record
from copycost.snakefile import outcomes as module
from copycost.snakefile.outcomes import KNOWN_PATH, UNREADABLE, outcomes


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record whose outcome is known."""
    monkeypatch.chdir(tmp_path)
    record = sample_record("two_copy")
    path = Path(cell_of(record).path)
    write_record(cast("Record", record), path)
    assert statuses(path) == ["measured"]
    return path


def statuses(path: Path) -> list[str]:
    return [one.status for one in outcomes([path])]


def test_a_known_record_is_not_read_again_until_the_package_changes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "kind_of", {}.__getitem__)
    assert statuses(path) == ["measured"]
    monkeypatch.setattr(module, "_package", lambda: "edited")
    assert statuses(path) == [UNREADABLE]


def test_an_edit_that_leaves_size_and_time_is_noticed(path: Path) -> None:
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"measured"', b'"measurex"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert statuses(path) == [UNREADABLE]
    path.unlink()
    assert statuses(path) == []


@pytest.mark.parametrize("content", [b"", b"\xff", b"{}", b"[]"])
def test_without_what_is_known_all_is_read(path: Path, content: bytes) -> None:
    KNOWN_PATH.write_bytes(content)
    assert statuses(path) == ["measured"]
