"""A kind of record: JSON files of one shape, checked by a schema on write and on read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from copycost.errors import DataError, ParseError
from copycost.records.files import write_whole

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class RecordKind(Generic[R]):
    """Records that one schema describes.

    Attributes
    ----------
    schema
        Its file; it has only keywords that mean the same in drafts 7 and 2020-12.
    name
        What messages call such a record.
    measured
        What messages say is measured again once the file is gone.
    """

    schema: Path
    name: str = "a copycost record"
    measured: str = "that repetition"

    def prepare_check(self) -> None:
        """Compile the validator now, at a moment when the time it takes costs nothing."""
        _quick_validator(self.schema)

    def check(self, data: object, where: str | Path) -> R:
        """Return `data` as a record if the schema allows it.

        Raises
        ------
        DataError
            If it does not; the message names the offending key.
        """
        from fastjsonschema import JsonSchemaValueException

        try:
            _quick_validator(self.schema)(data)
        except JsonSchemaValueException as error:
            found = _what_is_wrong(self.schema, data) or error.message
            raise DataError(
                f"{where}: {found}; expected {self.name} ({self.schema.name}), so move the file"
                f" elsewhere, or delete it to measure {self.measured} again"
            ) from error
        return cast("R", data)

    def read(self, path: Path) -> R:
        """Return the record in a file.

        Raises
        ------
        ParseError
            If the file is not one JSON object; the message names line and text.
        DataError
            If the object is not a record.
        """
        try:
            text = path.read_text(encoding="utf-8")
            data = json.loads(text)
        except UnicodeDecodeError as error:
            found = f"byte {error.start} is not UTF-8"
            raise ParseError(self._unreadable(path, 1, found)) from error
        except json.JSONDecodeError as error:
            line = (text.splitlines() or [""])[error.lineno - 1 : error.lineno]
            shown = text.strip() and line
            found = f"{error.msg} near {line[0][-40:]!r}" if shown else "an empty file"
            raise ParseError(self._unreadable(path, error.lineno, found)) from error
        return self.check(data, path)

    def _unreadable(self, path: Path, line: int, found: str) -> str:
        return (
            f"{path}, line {line}: {found}; expected one JSON object, so the file was cut off or is"
            f" not copycost's: delete it to measure {self.measured} again"
        )

    def write(self, record: R, path: Path) -> None:
        """Write a record, all of it or nothing.

        Raises
        ------
        DataError
            If the record breaks its schema, or cannot be written (disk full, no right).
        """
        self.check(record, path)
        try:
            text = json.dumps(record, indent=1, allow_nan=False) + "\n"
        except ValueError as error:
            raise DataError(f"{path}: a value is not a number: {error}") from error
        write_whole(text, path)


@cache
def _schema(path: Path) -> dict[str, Any]:
    import yaml

    return cast("dict[str, Any]", yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader))


@cache
def _quick_validator(schema: Path) -> Callable[[Any], Any]:
    # compiled to Python code once per process (about 40 ms): 10 000 records are then checked in a
    # second or two, where an interpreting validator takes a minute
    import fastjsonschema

    rules = {key: value for key, value in _schema(schema).items() if key != "$schema"}
    validate = fastjsonschema.compile(rules, use_default=False, detailed_exceptions=False)
    return cast("Callable[[Any], Any]", validate)


def _what_is_wrong(schema: Path, data: object) -> str | None:
    """Return what the full validator, which explains itself better, finds first."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(_schema(schema))
    error = jsonschema.exceptions.best_match(validator.iter_errors(data))
    if error is None:
        return None
    place = ".".join(str(key) for key in error.absolute_path)
    return f"{place}: {error.message[:200]}" if place else error.message[:200]
