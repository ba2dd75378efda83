"""The schemas of all kinds of records."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sample_records import sample_record

from copycost.errors import DataError, ParseError
from copycost.records.json_schema import RecordKind, strict_json
from copycost.records.record import read_record, write_record

SCHEMAS = Path(__file__).parents[3] / "workflow" / "schemas"
RECORDS = [*sorted(SCHEMAS.glob("*record.schema.yaml")), SCHEMAS / "memory.schema.yaml"]
# what draft 7, for which the quick validator is compiled, does not know or reads otherwise
NEWER = {
    "prefixItems", "unevaluatedItems", "unevaluatedProperties", "dependentSchemas",
    "dependentRequired", "minContains", "maxContains", "$anchor", "$dynamicRef", "$recursiveRef",
}  # fmt: skip


def parts_of(schema: object, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        yield where, schema
        for key, inner in schema.items():
            yield from parts_of(inner, f"{where}/{key}")
    elif isinstance(schema, list):
        for index, inner in enumerate(schema):
            yield from parts_of(inner, f"{where}/{index}")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
def test_a_schema_is_closed_and_means_the_same_to_both_validators(path: Path) -> None:
    schema = yaml.safe_load(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for where, part in parts_of(schema):
        assert not NEWER & part.keys(), where
        if "properties" in part:
            assert part.get("additionalProperties") is False, where
            assert set(part.get("required", ())) <= set(part["properties"]), where


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
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


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a": ', "}"), ('[{"a": ', "}]")])
def test_what_is_nested_more_deeply_than_anything_of_ours_is_refused(
    opens: str, closes: str
) -> None:
    n = 64 // len(closes)
    strict_json(f"{opens * n}1{closes * n}")
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        strict_json(f"{opens * n}[]{closes * n}")
