"""The schemas of all kinds of records."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sample_records import sample_record

from copycost import checkout
from copycost.errors import DataError, ParseError
from copycost.records.json_schema import RecordKind, in_full
from copycost.records.record import read_record, write_record

NAMES = ("record", "simulated", "memory", "export", "host_set")
SCHEMAS = [checkout.SCHEMAS / f"{name}.schema.yaml" for name in NAMES]
# what draft 7, for which the quick validator is compiled, does not know or reads otherwise
NEWER = {
    "prefixItems", "unevaluatedItems", "unevaluatedProperties", "dependentSchemas",
    "dependentRequired", "minContains", "maxContains", "$anchor", "$dynamicRef", "$recursiveRef",
}  # fmt: skip


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_means_the_same_to_both_validators(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(in_full(yaml.safe_load(text)))
    assert not [word for word in NEWER if word in text]


def test_what_is_short_in_a_schema_stands_for_a_closed_object() -> None:
    count = {"type": "integer"}
    short = {"optional": ["b"], "properties": {"a": "count", "b": count}, "$defs": {"count": count}}
    check = jsonschema.Draft202012Validator(in_full(short)).is_valid
    assert check({"a": 1})
    assert check({"a": 1, "b": 2})
    assert not any(map(check, ({"b": 2}, {"a": "1"}, {"a": 1, "c": 3}, [])))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_what_is_no_record_is_named_with_its_schema(path: Path) -> None:
    kind: RecordKind[dict[str, Any]] = RecordKind(path, "such a record")
    expected = rf"^file: .*expected such a record \({path.name}\)$"
    with pytest.raises(DataError, match=expected):
        kind.check({"schema_version": 99}, "file")


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
