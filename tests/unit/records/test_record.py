"""Records on disk: checked by their schema on write and read, whole or not there."""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sample_records import sample_record

from copycost.config import checkout
from copycost.errors import DataError, ParseError
from copycost.records.json_schema import RecordKind, in_full
from copycost.records.record import SCHEMA_PATH, check_record, read_record, write_record

SCHEMA = in_full(yaml.safe_load(SCHEMA_PATH.read_text()))
RECORD = sample_record()

# how a record can be wrong: where, and what is put there (None: the key is taken away)
WRONG = {
    "unknown key": (["colour"], "red"),
    "missing key below": (["driver", "receiver", "window", "half_ns"], None),
    "unknown status": (["status"], "good"),
    "negative count": (["driver", "sender", "in_window", "bytes"], -1),
    "another version": (["schema_version"], 2),
    "unknown working set": (["cell", "working_set"], "64KiB"),
    "no digest": (["host_digest"], "abc"),
}


@pytest.mark.parametrize(("path", "value"), WRONG.values(), ids=WRONG)
def test_both_validators_refuse_what_breaks_the_schema(path: list[str], value: object) -> None:
    record = inner = sample_record()
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if value is None:
        del inner[path[-1]]
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(record)
    with pytest.raises(DataError) as caught:
        check_record(record, "results/raw/rep=1.json")
    assert str(caught.value).startswith("results/raw/rep=1.json: ")
    assert path[-1] in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "line 1: an empty file"),
        (b"hello\n", "line 1: .* near 'hello'"),
        (b"\xff\xfe\x00", "byte 0 is not UTF-8"),
        (b"NaN", "line 1: NaN is no number below "),
        (b'{"a": 1e999}', "line 1: 1e999 is no number"),
        (b'{"a": 1e308}', "line 1: 1e308 is no number"),
        (b'{"a": {"b": 1, "b": 1}}', "line 1: the key 'b' stands twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "line 1: a number of 5000 digits"),
        (b"[" * 100_000, "line 1: maximum recursion depth exceeded"),
    ],
)
def test_what_is_no_json_is_a_clear_parse_error(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "rep=1.json"
    path.write_bytes(content)
    with pytest.raises(ParseError, match=says):
        read_record(path)


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    for wrong, said in (({"wall_s": float("nan")}, "not a number"), ({"status": "good"}, "one of")):
        with pytest.raises(DataError, match=said):
            write_record(RECORD | wrong, tmp_path / "rep=1.json")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "testbed=veth").write_text("a file where a folder must be")
    with pytest.raises(DataError, match=r"cannot be written .*free or choose another"):
        write_record(RECORD, tmp_path / "testbed=veth" / "rep=1.json")


def test_a_new_record_takes_the_place_of_the_old_and_of_a_half_written_one(tmp_path: Path) -> None:
    path = tmp_path / "testbed=veth" / "rep=1.json"
    path.parent.mkdir()
    (path.parent / ".rep=1.json.partial").write_text('{"schema_v')
    path.write_text("old")
    write_record(RECORD, path)
    assert read_record(path) == RECORD
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208 - hidden files too


NAMES = ("record", "simulated", "memory", "export", "host_set")
SCHEMAS = [checkout.SCHEMAS / f"{name}.schema.yaml" for name in NAMES]
# what draft 7, for which the quick validator is compiled, does not know or reads otherwise
NEWER = {
    "prefixItems", "unevaluatedItems", "unevaluatedProperties", "dependentSchemas",
    "dependentRequired", "minContains", "maxContains", "$anchor", "$dynamicRef", "$recursiveRef",
}  # fmt: skip


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_means_the_same_to_both_validators_and_is_named(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(in_full(yaml.safe_load(text)))
    assert not [word for word in NEWER if word in text]
    kind: RecordKind[dict[str, Any]] = RecordKind(path, "such a record")
    expected = rf"^file: .*expected such a record \({path.name}\)$"
    with pytest.raises(DataError, match=expected):
        kind.check({"schema_version": 99}, "file")


def test_what_is_short_in_a_schema_stands_for_a_closed_object() -> None:
    count = {"type": "integer"}
    short = {"optional": ["b"], "properties": {"a": "count", "b": count}, "$defs": {"count": count}}
    check = jsonschema.Draft202012Validator(in_full(short)).is_valid
    assert check({"a": 1})
    assert check({"a": 1, "b": 2})
    assert not any(map(check, ({"b": 2}, {"a": "1"}, {"a": 1, "c": 3}, [])))


def test_a_record_that_was_changed_after_it_was_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rep=1.json"
    write_record(sample_record(), path)
    assert read_record(path) == sample_record()
    text = path.read_text()
    for changed in (text.replace('"wall_s": 1.5', '"wall_s": 1.6'), json.dumps(json.loads(text))):
        path.write_text(changed)
        with pytest.raises(ParseError, match=r"it was changed after it was written; "):
            read_record(path)
    path.write_text(json.dumps(sample_record()))  # without a digest it is taken as it is
    assert read_record(path) == sample_record()
