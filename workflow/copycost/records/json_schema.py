"""A kind of record: JSON files of one shape, checked by a schema on write and on read."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from copycost.errors import DataError, ParseError
from copycost.records.files import write_whole

R = TypeVar("R")

# how a file ends whose writer put the digest of all before it there
_DIGEST = re.compile(r',\n "digest": "(?P<digest>[0-9a-f]{64})"\n}\n\Z')
_MOST_DIGITS = 20  # of an integer of 64 bits, with its sign
# lists and objects within one another; a record has 10, and what checks them goes into each
_DEEPEST = 64
_MOST_SHOWN = 200
# the key of the records of one job, where it measured more than one
_SEVERAL = "repetitions"


@dataclass(frozen=True, slots=True)
class RecordKind(Generic[R]):
    """Records, called `name` in messages, that one schema describes.

    The schema's file is read by `in_full`, and has only keywords that mean the same in drafts 7 and
    2020-12.
    """

    schema: Path
    name: str = "a copycost record"

    def prepare_check(self) -> None:
        """Compile the validator now, at a moment when the time it takes costs nothing."""
        _quick_validator(self.schema)

    def check(self, data: object, where: str | Path) -> R:
        """Return `data` as a record if the schema allows it; else DataError names the key."""
        from fastjsonschema import JsonSchemaValueException

        try:
            _quick_validator(self.schema)(data)
        except JsonSchemaValueException as error:
            found = _what_is_wrong(self.schema, data) or error.message
            raise DataError(
                f"{where}: {found}; expected {self.name} ({self.schema.name})"
            ) from error
        return cast("R", data)

    def read(self, path: Path) -> R:
        """Return the only record in a file; see `read_all`."""
        (record,) = self.read_all(path)
        return record

    def read_all(self, path: Path) -> list[R]:
        """Return the records in a file, without the digest, by which any later change shows.

        ParseError where it is not one JSON object, DataError where that is not a record or several.
        """
        return [self.check(one, path) for one in several(self.load(path.read_bytes(), path))]

    def load(self, content: bytes, where: str | Path) -> object:
        """Return what a file holds, as yet unchecked, without the digest of the rest.

        ParseError, with line and text, where it is not one JSON object.
        """
        text = ""
        try:
            text = content.decode("utf-8")
            return _without_digest(_strict_json(text), text)
        except (ValueError, RecursionError) as error:
            number, found = 1, str(error)[:_MOST_SHOWN]
            if isinstance(error, UnicodeDecodeError):
                found = f"byte {error.start} is not UTF-8"
            elif isinstance(error, json.JSONDecodeError):
                number = error.lineno
                line = text.splitlines()[number - 1 : number] if text.strip() else []
                found = f"{error.msg} near {line[0][-40:]!r}" if line else "an empty file"
            expected = "expected one JSON object that nobody has changed"
            raise ParseError(f"{where}, line {number}: {found}; {expected}") from error

    def write(self, record: R | Sequence[R], path: Path) -> None:
        """Write a record, or those of a job, with a digest of them, all of it or nothing."""
        write_whole(self.text(record, path), path)

    def text(self, record: R | Sequence[R], where: str | Path) -> str:
        """Return what the file of a record, or of those of a job, holds: JSON with its digest.

        DataError where a record breaks its schema.
        """
        data = {_SEVERAL: record} if isinstance(record, Sequence) else record
        for one in several(data):
            self.check(one, where)
        try:
            text = json.dumps(data, indent=1, allow_nan=False).removesuffix("\n}")
        except ValueError as error:
            raise DataError(f"{where}: a value is not a number: {error}") from error
        return f'{text},\n "digest": "{_digest_of(text)}"\n}}\n'


def several(data: object) -> list[Any]:
    """Return the records that a file holds, as yet unchecked: its only one, or those of a job."""
    found = data.get(_SEVERAL) if isinstance(data, dict) and len(data) == 1 else None
    return found if isinstance(found, list) and found else [data]


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _without_digest(data: object, text: str) -> object:
    """Return what a text holds without the digest of the rest, ValueError if that is of another."""
    if not isinstance(data, dict) or "digest" not in data:
        return data
    end = _DIGEST.search(text)
    if end is None or end["digest"] != _digest_of(text[: end.start()]):
        raise ValueError("it was changed after it was written")
    return {key: value for key, value in data.items() if key != "digest"}


def _strict_json(text: str) -> object:
    """Return the value of a JSON text, without what JSON does not have or Python takes amiss.

    ValueError where it is no JSON, a key stands twice (Python takes the last), a number is none of
    ours, or it is nested too deeply for what is done with it; RecursionError where too deeply to be
    read at all.
    """
    data = json.loads(
        text,
        object_pairs_hook=_without_doubles,
        parse_float=_finite,
        parse_int=_of_64_bits,
        parse_constant=_finite,
    )
    if "\\u" in text:
        json.dumps(data, ensure_ascii=False).encode()  # half a character has no UTF-8
    level: list[Any] = [[data]]
    for _ in range(_DEEPEST + 1):
        values = [one.values() if isinstance(one, dict) else one for one in level]
        level = [item for each in values for item in each if isinstance(item, (dict, list))]
    if level:
        raise ValueError(f"it is nested more than {_DEEPEST} deep")
    return data


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} stands twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) < 1 << 63:  # NaN is not; a schema takes 1e308 for an integer
        raise ValueError(f"{text} is no number below 2^63")
    return value


def _of_64_bits(text: str) -> int:
    if len(text) > _MOST_DIGITS or abs(int(text)) >= 1 << 63:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def in_full(schema: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Return a schema of ours, or a part of it, as JSON schema has it.

    In ours what has `properties` is an object of no others, and of all but those that are
    `optional`; a property that is one of `$defs` is called by its name.
    """
    if isinstance(schema, list):
        return [in_full(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    full = {key: in_full(part) for key, part in schema.items() if key != "optional"}
    if "properties" not in schema:
        return full
    properties = {
        key: {"$ref": f"#/$defs/{part}"} if isinstance(part, str) else part
        for key, part in full["properties"].items()
    }
    required = [key for key in properties if key not in schema.get("optional", ())]
    closed = {"properties": properties, "required": required, "additionalProperties": False}
    return {"type": "object", **full, **closed}


@cache
def _schema(path: Path) -> dict[str, Any]:
    import yaml

    text = path.read_text(encoding="utf-8")
    return cast("dict[str, Any]", in_full(yaml.load(text, yaml.CSafeLoader)))


@cache
def _quick_validator(schema: Path) -> Callable[[Any], Any]:
    # compiled to Python code once per process (about 40 ms): 10 000 records are then checked in a
    # second or two, where an interpreting validator takes a minute
    import fastjsonschema

    validate = fastjsonschema.compile(_schema(schema), use_default=False, detailed_exceptions=False)
    return cast("Callable[[Any], Any]", validate)


def _what_is_wrong(schema: Path, data: object) -> str | None:
    """Return what the full validator, which explains itself better, finds first."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(_schema(schema))
    error = jsonschema.exceptions.best_match(validator.iter_errors(data))
    if error is None:
        return None
    place = ".".join(str(key) for key in error.absolute_path)
    return f"{place}: {error.message[:_MOST_SHOWN]}" if place else error.message[:_MOST_SHOWN]
