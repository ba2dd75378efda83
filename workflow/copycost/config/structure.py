# ruff: noqa: ANN401, D102 - values are any plain ones; `Kind` says what its methods do
"""What each key of the configuration may say: a field of a section, stated with its kind.

A kind tells what is wrong with a plain value, as YAML and Snakemake have it, makes the typed value
of it, and turns that back. defaults.yaml and config.yaml explain the keys.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields
from math import isfinite
from operator import ge, gt, le, lt
from typing import Any, TypeVar

from copycost.config.testbeds import TESTBEDS, WIRES, over_wire_to, transport_of
from copycost.wording.numbers import format_size, parse_size
from copycost.wording.words import did_you_mean

# The names, and indices in lists, on the way to a value.
KeyPath = tuple[str | int, ...]
Problem = tuple[KeyPath, str]

_Section = TypeVar("_Section")

NONE = "none"
"""The word of the configuration for no limit of time, and for no file."""
HOST = "host"
"""The word of the configuration for what the host has."""

UNKNOWN = "unknown key"
MOST_ITEMS = 100


def stated(kind: "Kind", **default: Any) -> Any:
    """Return the field of a section that says such values."""
    return field(metadata={"kind": kind}, **default)


class Kind:
    """What values a key may have; the title says it, as the end of a sentence.

    Problems begin with ``must`` where they go on what is there; `peers` are the names of the other
    machines, which testbeds may have.
    """

    title: str

    def problem(self, value: Any, peers: Sequence[str]) -> str | None:
        """Return what is wrong with a value; None where nothing is."""
        raise NotImplementedError

    def problems(self, value: Any, path: KeyPath, peers: Sequence[str]) -> Iterator[Problem]:
        """Yield what is wrong with a value, and with those in it."""
        if (problem := self.problem(value, peers)) is not None:
            yield path, problem

    def normal(self, value: Any) -> Any:
        """Return a value with sizes in bytes, and words for what YAML took for something else."""
        return value

    def made(self, value: Any) -> Any:
        """Return the typed value of a sound one."""
        return value

    def plain(self, value: Any) -> Any:
        """Return the plain value of a typed one."""
        return value


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no."""

    title: str = "true or false"

    def problem(self, value: Any, peers: Sequence[str]) -> str | None:
        return None if isinstance(value, bool) else f"must be {self.title}"


@dataclass(frozen=True)
class Number(Kind):
    """A number, a whole one unless it is said otherwise, within bounds."""

    title: str
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    whole: bool = True

    def problem(self, value: Any, peers: Sequence[str]) -> str | None:
        is_int = isinstance(value, int) and not isinstance(value, bool)
        is_float = isinstance(value, float) and isfinite(value)
        if not is_int and not (is_float and (value.is_integer() or not self.whole)):
            return f"must be {self.title}"
        bounds = (
            (">=", ge, self.least), ("<=", le, self.most),
            (">", gt, self.above), ("<", lt, self.below),
        )  # fmt: skip
        for sign, holds, limit in bounds:
            if limit is not None and not holds(value, limit):
                return f"must be {sign} {self.shown(limit)}"
        return None

    def shown(self, limit: Any) -> str:
        """Return a bound in words."""
        return str(limit)

    def made(self, value: Any) -> Any:
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class Size(Number):
    """A number of bytes, or a text such as 64KiB."""

    def shown(self, limit: Any) -> str:
        return format_size(limit)

    def normal(self, value: Any) -> Any:
        with suppress(ValueError):
            return parse_size(value) if isinstance(value, str) else value
        return value


@dataclass(frozen=True)
class Word(Kind):
    """A text of one line, which matches a pattern; spaces at its ends may not belong to it."""

    title: str
    pattern: str = ".+"
    most: int | None = None
    bare: bool = False

    def problem(self, value: Any, peers: Sequence[str]) -> str | None:
        if isinstance(value, str) and self.most is not None and len(value) > self.most:
            return f"has {len(value)} characters, must have at most {self.most}"
        matches = isinstance(value, str) and re.fullmatch(self.pattern, value)
        return None if matches else f"must be {self.title}"

    def normal(self, value: Any) -> Any:
        return value.strip() if self.bare and isinstance(value, str) else value

    def made(self, value: Any) -> Any:
        return str(value)


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few values; a testbed over a wire may have the name of another machine behind it."""

    title: str
    options: tuple[Any, ...]

    def problem(self, value: Any, peers: Sequence[str]) -> str | None:
        wires = [name for name in self.options if name in WIRES]
        to_peers = (over_wire_to(name, peer) for name in wires for peer in peers)
        options = (*self.options, *to_peers)
        if any(type(one) is type(value) and one == value for one in options):
            return None
        meant = did_you_mean(value, options) if isinstance(value, str) else ""
        if value in list(TESTBEDS):
            place = "streams" if transport_of(value) == "stream" else "udp"
            meant = f"; {value} belongs in {place}"
        return f"must be one of {', '.join(map(str, options))}{meant}"

    def normal(self, value: Any) -> Any:
        word = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else None
        return word if word in self.options else value

    def made(self, value: Any) -> Any:
        if value not in self.options:
            raise ValueError(f"got {value!r}, must be one of {self.options}")
        return value


@dataclass(frozen=True)
class Name(Choice):
    """The name of something that another version may have more of."""

    def made(self, value: Any) -> Any:
        return str(value)


class Or(Kind):
    """A word, or what another kind takes, whose title names both; `words` says what it becomes."""

    def __init__(self, words: Mapping[str, Any], of: Kind) -> None:
        self.words, self.of, self.title = words, of, of.title

    def problems(self, value: Any, path: KeyPath, peers: Sequence[str]) -> Iterator[Problem]:
        if value not in list(self.words):
            yield from self.of.problems(value, path, peers)

    def normal(self, value: Any) -> Any:
        return NONE if value is None and NONE in self.words else self.of.normal(value)

    def made(self, value: Any) -> Any:
        return self.words[value] if value in list(self.words) else self.of.made(value)

    def plain(self, value: Any) -> Any:
        words = (word for word, becomes in self.words.items() if becomes == value)
        return next(words, None) or self.of.plain(value)


@dataclass(frozen=True)
class ListOf(Kind):
    """Values of one kind, so many at least and at most."""

    title: str
    of: Kind
    least: int = 1
    most: int = MOST_ITEMS

    def problems(self, value: Any, path: KeyPath, peers: Sequence[str]) -> Iterator[Problem]:
        if not isinstance(value, list) or len(value) < self.least:
            yield path, f"must be {self.title}"
        elif len(value) > self.most:
            yield path, f"has {len(value)} values, must have at most {self.most}"
        else:
            for place, item in enumerate(value):
                yield from self.of.problems(item, (*path, place), peers)

    def normal(self, value: Any) -> Any:
        return [self.of.normal(item) for item in value] if isinstance(value, list) else value

    def made(self, value: Any) -> Any:
        return tuple(self.of.made(item) for item in value)

    def plain(self, value: Any) -> Any:
        return [self.of.plain(item) for item in value]


@dataclass(frozen=True)
class Section(Kind):
    """A section with the keys of a class; those that have defaults there need not be stated."""

    title: str
    of: type

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of its keys."""
        return {each.name: each.metadata["kind"] for each in fields(self.of)}

    def problems(self, value: Any, path: KeyPath, peers: Sequence[str]) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield path, f"must be {self.title}"
            return
        kinds = self.kinds
        for key in value:
            if key not in kinds:
                yield (*path, str(key)), f"{UNKNOWN}{did_you_mean(str(key), kinds)}"
        for each in fields(self.of):
            if each.name in value:
                yield from kinds[each.name].problems(value[each.name], (*path, each.name), peers)
            elif each.default is MISSING:
                yield (*path, each.name), f"missing, must be {kinds[each.name].title}"

    def normal(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        kinds = self.kinds
        return {key: kinds[key].normal(it) if key in kinds else it for key, it in value.items()}

    def made(self, value: Any) -> Any:
        stated = {
            each.name: each.metadata["kind"].made(value[each.name])
            for each in fields(self.of)
            if each.default is MISSING or each.name in value
        }
        return self.of(**stated)

    def plain(self, value: Any) -> Any:
        return {name: kind.plain(getattr(value, name)) for name, kind in self.kinds.items()}


def from_plain(tree: object, kind: type[_Section]) -> _Section:
    """Return the configuration, or a section of it, that checked plain values state.

    Raises KeyError, TypeError or ValueError if they were not checked, and a value is missing or of
    another kind.
    """
    made: _Section = Section("", kind).made(tree)
    return made


def to_plain(section: object) -> dict[str, Any]:
    """Return a section in the words of config.yaml, sizes in bytes, lists as lists."""
    plain: dict[str, Any] = Section("", type(section)).plain(section)
    return plain


def section(title: str, of: type) -> Any:
    """Return the field with a section."""
    return stated(Section(f"a section {title}", of))


def testbeds(*names: str) -> Any:
    """Return the field with a list of testbeds."""
    of = Name("the name of a testbed", names)
    return stated(ListOf("a list of testbeds, at least one", of))
