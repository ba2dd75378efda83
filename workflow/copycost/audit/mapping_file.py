"""Reads a mapping file: what the columns of a table mean, where guesses fail."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from copycost.audit.mapping import IGNORE, FileMapping
from copycost.audit.quantities import (
    BY_NAME,
    base_of,
    find_quantity,
    is_quantity,
    unit_factor,
)
from copycost.config.text import MAX_BYTES, parse_yaml
from copycost.errors import ConfigError

_NAMED = ("columns", "implementations", "constants", "source", "host")
_KEYS = (*_NAMED, "delimiter", "decimal", "header")
_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
_NAME = re.compile(r"[^\s`|](?:[^`|\n\r\t]*[^\s`|])?")
_HOST_NUMBERS = ("cpus", "l1d_bytes", "l2_bytes", "llc_bytes")
_MOST = 2**50


def load_yaml(path: Path) -> Any:  # noqa: ANN401 - YAML is any of its types
    """Return the content of a YAML file.

    Raises
    ------
    ConfigError
        If it cannot be read or is no YAML.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{path}: too large, must be at most {MAX_BYTES >> 10} KiB")
        return parse_yaml(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text; write it anew with a text editor") from error


def read_mapping(path: Path | None) -> FileMapping:
    """Read a mapping file; without one, everything is guessed.

    Raises
    ------
    ConfigError
        Naming everything that is wrong with it.
    """
    if path is None:
        return FileMapping()
    content = load_yaml(path)
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must be a mapping with some of the keys {', '.join(_KEYS)}")
    problems = list(_wrong_kinds(content))
    if not problems:
        columns = dict(_columns(content.get("columns") or {}, problems))
        constants = dict(_constants(content.get("constants") or {}, problems))
    if problems:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in problems))
    delimiter = content.get("delimiter")
    return FileMapping(
        columns=columns,
        implementations=_texts(content.get("implementations")),
        constants=constants,
        delimiter=_DELIMITERS.get(delimiter, delimiter) if delimiter else None,
        decimal=content.get("decimal"),
        header=tuple(map(str, content["header"])) if content.get("header") else None,
        source=_texts(content.get("source")),
        host=content.get("host") or {},
    )


def _wrong_kinds(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is unknown, or not of the kind that its key takes."""
    for key in content:
        if key not in _KEYS:
            yield f"{key}: unknown; expected one of {', '.join(_KEYS)}"
    for key in _NAMED:
        part = content.get(key) or {}
        if not isinstance(part, dict):
            yield f"{key}: must be a mapping of names"
            continue
        for name, value in part.items():
            nested = key == "columns" and isinstance(value, dict)
            if value is None or (isinstance(value, list | dict) and not nested):
                yield f"{key}.{name}: got {shown(value)}, must be a word or a number"
            elif key == "implementations" and not _NAME.fullmatch(str(value)):
                yield f"{key}.{name}: got {shown(value)}, must be a name for the report"
    delimiter = content.get("delimiter")
    if delimiter and delimiter not in (*_DELIMITERS, *_DELIMITERS.values()):
        yield f"delimiter: got {shown(delimiter)}, must be one of {', '.join(_DELIMITERS)}"
    if content.get("decimal") not in (None, ".", ","):
        yield f"decimal: got {shown(content['decimal'])}, must be '.' or ','"
    header = content.get("header") or []
    if not isinstance(header, list) or any(isinstance(name, list | dict) for name in header):
        yield f"header: got {shown(header)}, must be a list of the columns' names"
    host = content.get("host") or {}
    for name in _HOST_NUMBERS:
        value = host.get(name) if isinstance(host, dict) else None
        if value is not None and (type(value) is not int or not 1 <= value <= _MOST):
            yield f"host.{name}: got {shown(value)}, must be a whole number from 1"


def _columns(
    said: Mapping[str, Any], problems: list[str]
) -> Iterator[tuple[str, tuple[str, str | None]]]:
    for column, value in said.items():
        meant = value if isinstance(value, dict) else {"is": value}
        name, unit = str(meant.get("is")), meant.get("unit")
        quantity = name if name == IGNORE or is_quantity(name) else find_quantity(name)
        if quantity is None:
            problems.append(
                f"columns.{column}: {shown(meant.get('is'))} is no quantity; expected {IGNORE} or "
                f"one of {', '.join(BY_NAME)}"
            )
            continue
        if quantity != IGNORE and unit and unit_factor(base_of(quantity).kind, str(unit)) is None:
            problems.append(f"columns.{column}.unit: {shown(unit)} is no unit of {quantity}")
        yield column, (quantity, None if unit is None else str(unit))


def _constants(said: Mapping[str, Any], problems: list[str]) -> Iterator[tuple[str, str]]:
    for name, value in said.items():
        quantity = name if is_quantity(name) else find_quantity(name)
        if quantity is None:
            problems.append(f"constants.{name}: no quantity; see docs/audit.md")
        else:
            yield quantity, str(value)


def _texts(said: Mapping[str, Any] | None) -> dict[str, str]:
    return {key: str(value) for key, value in (said or {}).items()}
