"""What others hand on is read as data: what is damaged, foreign or hostile is refused."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from unit.compare.hosts.made import path_of, records_of, write_run

from copycost.compare.hosts.export_command import archive_of
from copycost.compare.hosts.import_archive import LARGEST_FILE, MOST_FILES, read_parcel
from copycost.compare.hosts.privacy import require_name
from copycost.errors import ConfigError, DataError

NAME = "raw/streams/testbed=veth/implementation=two_copy/msg_bytes=65536/n_threads=1/"
NAME += "working_set=hot/receiver=recv/placement=apart/rep=1.json"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "host.zip"
    path.write_bytes(archive_of(read_parcel(write_run(tmp_path / "results"), "lab")))
    return path


def changed(archive: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Return an archive with other files than it had."""
    with zipfile.ZipFile(archive) as old:
        files = {name: old.read(name) for name in old.namelist()}
    change(files)
    with zipfile.ZipFile(archive, "w") as new:
        for name, content in files.items():
            new.writestr(name, content)
    return archive


def refusal(path: Path) -> str:
    with pytest.raises(DataError) as error:
        read_parcel(path)
    return str(error.value)


def test_an_export_is_read_as_the_folder_it_was_made_of(tmp_path: Path, archive: Path) -> None:
    folder, exported = read_parcel(tmp_path / "results", "lab"), read_parcel(archive)
    assert (exported.name, len(exported.records)) == ("lab", 6)
    assert exported.records == folder.records
    assert (exported.host, exported.config) == (folder.host, folder.config)
    assert archive_of(exported) == archive_of(folder) == archive.read_bytes()


def test_a_host_is_called_by_its_alias_or_by_what_it_is(tmp_path: Path) -> None:
    assert read_parcel(write_run(tmp_path / "a", alias="rack-1")).name == "rack-1"
    unnamed = [read_parcel(write_run(tmp_path / each)).name for each in "bc"]
    assert unnamed[0] == unnamed[1]
    assert unnamed[0].startswith("host-")


@pytest.mark.parametrize("name", ["", "A", "a_2", "../x", "a/b", "-a", "a" * 41, "a\n", "hé"])
def test_a_name_that_could_be_more_than_a_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="names no host; expected"):
        require_name(name, "--alias")


def test_every_damaged_record_is_named_at_once(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    paths = [path_of(folder, record) for record in records_of()]
    text = paths[1].read_text()
    paths[0].write_text("{")
    paths[1].write_text(text.replace('"wall_s": ', '"wall_s": 1'))
    paths[2].write_text(json.dumps(json.loads(text) | {"digest": None, "foreign": 1}))
    with paths[3].open("wb") as file:
        file.truncate(2 << 30)
    said = refusal(folder)
    assert said.count("raw/streams/") == 4
    assert "changed after it was written" in said
    assert "is larger than 16 MiB" in said, "and was not read"
    assert "measure" not in said, "whoever merges cannot measure there again"


def record_with(**values: Any) -> Callable[[dict[str, bytes]], None]:  # noqa: ANN401
    def change(files: dict[str, bytes]) -> None:
        record = json.loads(files[NAME])
        record.pop("digest")
        for path, value in values.items():
            *parents, last = path.split("__")
            place = record
            for name in parents:
                place = place[name]
            place[last] = value
        files[NAME] = json.dumps(record).encode()

    return change


def file_named(name: str, content: bytes = b"{}") -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.update({name: content})


NESTED = b'{"identity": ' + b"[" * 700 + b"]" * 700 + b"}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (record_with(schema_version=3), "has schema version 3, and this copycost reads"),
        (record_with(schema_version="x" * 999), "schema version none"),
        (record_with(cell__rep=2), "holds the record of another repetition"),
        (record_with(cell__testbed="../../etc"), "does not match"),
        (record_with(cell__implementation="a" * 300), "another repetition"),
        (record_with(reason="\x1b[2J"), "control characters"),
        (record_with(driver__receiver__total__bytes=10**15), "bytes were received in all"),
        (record_with(driver__sender__window__end_ns=1), "the sender's window lasts -"),
        (record_with(wall_s=-1), "wall_s"),
        (record_with(host_digest="x"), "host_digest"),
        (file_named("../../evil.json"), "../../evil.json: is in no export"),
        (lambda files: files.update({"raw/../../evil.json": files[NAME]}), "another repetition"),
        (file_named("raw/streams/x.json"), "schema version none"),
        (file_named("host.json", b"[1]"), "host.json"),
        (file_named("host.json", b'{"identity": 1}'), "has no section identity"),
        (file_named("host.json", b'{"identity": {}, "x": "' + b"y" * 2000 + b'"}'), "host.json"),
        (file_named("host.json", b'{"identity": 1e999}'), "host.json"),
        (file_named("host.json", NESTED), "host.json, line 1: it is nested more than 64 deep"),
        (file_named("config.json", b"{" + b" " * LARGEST_FILE + b"}"), "larger than 16 MiB"),
        (file_named("memory.json"), "memory.json"),
        (lambda files: files.pop("host.json"), "host.json is missing"),
        (lambda files: files.pop("export.json"), "export.json is missing"),
    ],
)  # fmt: skip
def test_what_no_export_holds_is_refused_in_a_sentence(
    archive: Path, change: Callable[[dict[str, bytes]], None], said: str
) -> None:
    found = refusal(changed(archive, change))
    assert said in found
    assert all(letter.isprintable() or letter == "\n" for letter in found)
    assert len(found) < 3000


def test_a_host_that_was_busy_is_none_to_refuse(archive: Path) -> None:
    busy = record_with(driver__sender__process__cpu_ns=3 * 10**9, driver__sender__window__half_ns=1)
    assert len(read_parcel(changed(archive, busy)).records) == len(read_parcel(archive).records)


def test_neither_a_link_nor_a_pipe_is_followed(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "results")
    path = path_of(folder, records_of()[0])
    path.rename(tmp_path / "secret")
    path.symlink_to(tmp_path / "secret")
    assert "is a link" in refusal(folder)
    path.unlink()
    os.mkfifo(path)
    assert "no plain file" in refusal(folder)
    path.unlink()
    (path.parent.parent / "placement=same").symlink_to(tmp_path)
    assert "is a link" in refusal(folder)
    (folder / "raw").rename(tmp_path / "elsewhere")
    (folder / "raw").symlink_to(tmp_path / "elsewhere")
    assert "is a link" in refusal(folder)


def test_a_damaged_byte_is_found_and_a_second_file_of_one_name(archive: Path) -> None:
    whole = archive.read_bytes()
    archive.write_bytes(whole[:200] + bytes([whole[200] ^ 0xFF]) + whole[201:])
    assert "refused" in refusal(archive)
    archive.write_bytes(whole)
    with zipfile.ZipFile(archive, "a") as more, pytest.warns(UserWarning, match="Duplicate"):
        more.writestr("host.json", "{}")
    assert "two files of one name" in refusal(archive)


@pytest.mark.parametrize(
    ("text", "said"),
    [("a: &a [1]\nb: [*a, *a]\n", "an anchor or alias"),
     *((f"a: {'[' * n}{']' * n}\n", "config.yaml: line 1: not YAML") for n in (65, 400, 100_000))],
)  # fmt: skip
def test_a_configuration_that_could_stand_for_very_much_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    folder = write_run(tmp_path)
    (folder / "config.yaml").write_text(text)
    assert said in refusal(folder)


def test_records_of_another_state_of_the_host_are_left_out(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    records = records_of(range(4, 5))
    write_run(folder, records, host={"identity": {"kernel_release": "other"}})
    write_run(folder, [])
    parcel = read_parcel(folder)
    assert (len(parcel.records), parcel.n_elsewhere) == (6, 2)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x00" * 100])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(content)
    assert "cannot be read as an archive" in refusal(path)
    with path.open("wb") as file:
        file.truncate(2 << 30)
    assert "cannot be read as an archive" in refusal(path)


def test_an_archive_of_very_many_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(MOST_FILES + 1):
            archive.writestr(zipfile.ZipInfo(f"raw/{number}"), b"")
    assert f"more than {MOST_FILES} files" in refusal(path)
