# ruff: noqa: ANN401, D102 - values are any plain ones; `Kind` says what its methods do
"""What each key of the configuration may say: a field of a section, stated with its kind.

A kind makes the typed value of a plain one, as YAML and Snakemake have it, or says what is wrong
with it; and it turns a typed value back. defaults.yaml and config.yaml explain the keys.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from math import inf, isinf
from typing import Any, TypeVar

from copycost.config.placements import PLACEMENTS
from copycost.config.strategy_capabilities import RECEIVERS
from copycost.config.testbeds import TESTBEDS, kind_of, transport_of
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


class Kind:
    """What values a key may have."""

    def title(self) -> str:
        """Return what values these are, as the end of a sentence with "must be"."""
        raise NotImplementedError

    def typed(self, value: Any) -> Any:
        """Return the typed value of a plain one.

        Raises ValueError, which may say more than the title, if it is wrong.
        """
        raise NotImplementedError

    def made(self, value: Any, path: KeyPath, found: list[Problem]) -> Any:
        """Return the typed value; add what is wrong with the plain one, and those in it."""
        try:
            return self.typed(value)
        except ValueError as error:
            found.append((path, str(error) or f"must be {self.title()}"))
            return None

    def plain(self, value: Any) -> Any:
        """Return the plain value of a typed one."""
        return value


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no."""

    def title(self) -> str:
        return "true or false"

    def typed(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value


@dataclass(frozen=True)
class Number(Kind):
    """A number of something, a whole one unless it is said otherwise, within bounds."""

    of: str = ""
    least: float = -inf
    most: float = inf
    whole: bool = True

    def title(self) -> str:
        what = f" of {self.of}" if self.of else ""
        return f"a {'whole ' if self.whole else ''}number{what}{self._bounds(str)}"

    def _bounds(self, shown: Callable[[Any], str]) -> str:
        if isinf(self.most):
            return f", {shown(self.least)} or more"
        return f" from {shown(self.least)} to {shown(self.most)}"

    def typed(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError
        is_within = self.least <= value <= self.most  # NaN is not
        if not is_within or (self.whole and value % 1):
            raise ValueError
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class Size(Number):
    """A number of bytes, or a text such as 64KiB."""

    def title(self) -> str:
        return f"a size{self._bounds(format_size)}, such as 8192 or 8KiB"

    def typed(self, value: Any) -> Any:
        if isinstance(value, str):
            try:
                value = parse_size(value)
            except ValueError:
                raise ValueError from None  # whose words are the title's
        return super().typed(value)


class Ring(Size):
    """The size of a ring of messages, in digits."""

    def typed(self, value: Any) -> Any:
        return str(super().typed(value))


@dataclass(frozen=True)
class Word(Kind):
    """A text that matches a pattern as a whole."""

    what: str
    pattern: str = ".+"
    most: int | None = None

    def title(self) -> str:
        return self.what

    def typed(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError
        text = value.strip()
        if self.most is not None and len(text) > self.most:
            raise ValueError(f"has {len(text)} characters, must have at most {self.most}")
        if not re.fullmatch(self.pattern, text):
            raise ValueError
        return text


class Choice(Kind):
    """One of a few values."""

    def __init__(self, *options: Any) -> None:
        self.options = options

    def title(self) -> str:
        return f"one of {', '.join(map(str, self.options))}"

    def typed(self, value: Any) -> Any:
        if isinstance(value, bool) and value not in self.options:
            value = "on" if value else "off"  # as these words are for YAML
        if not any(type(one) is type(value) and one == value for one in self.options):
            meant = did_you_mean(value, self.options) if isinstance(value, str) else ""
            raise ValueError(f"must be {self.title()}{meant}")
        return value


class Testbed(Choice):
    """One of some testbeds; those over a wire may be named with the machine at its other end."""

    def typed(self, value: Any) -> Any:
        if isinstance(value, str) and kind_of(value) in self.options:
            return value
        if isinstance(value, str) and value in TESTBEDS:
            place = "streams" if transport_of(value) == "stream" else "udp"
            raise ValueError(f"must be {self.title()}; {value} belongs in {place}")
        return super().typed(value)


class Or(Kind):
    """A word, or what another kind takes; `words` says what each becomes."""

    def __init__(self, words: Mapping[str, Any], of: Kind) -> None:
        self.words, self.of = words, of

    def title(self) -> str:
        return f"{', '.join(self.words)}, or {self.of.title()}"

    def made(self, value: Any, path: KeyPath, found: list[Problem]) -> Any:
        word = NONE if value is None else value
        if isinstance(word, str) and word in self.words:
            return self.words[word]
        below: list[Problem] = []
        made = self.of.made(value, path, below)
        if below and not isinstance(value, list | Mapping):
            below = [(path, f"must be {self.title()}")]
        found += below
        return made

    def plain(self, value: Any) -> Any:
        words = (word for word, becomes in self.words.items() if becomes == value)
        return next(words, None) or self.of.plain(value)


@dataclass(frozen=True)
class ListOf(Kind):
    """Different values of one kind, so many at least and at most."""

    of: Kind
    least: int = 1
    most: int = MOST_ITEMS
    may_repeat: bool = False

    def title(self) -> str:
        least = f" of {self.least} or more" if self.least else ""
        return f"a list{least}, each {self.of.title()}"

    def made(self, value: Any, path: KeyPath, found: list[Problem]) -> Any:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) < self.least:
            found.append((path, f"must be {self.title()}"))
            return None
        if len(value) > self.most:
            found.append((path, f"has {len(value)} values, must have at most {self.most}"))
            return None
        made = [self.of.made(item, (*path, place), found) for place, item in enumerate(value)]
        for place, item in enumerate(made):
            if item is not None and item in made[:place] and not self.may_repeat:
                once = "more than once, must list each value once"
                found.append((path, f"has {value[place]!r:.80} {once}"))
        return tuple(made)

    def plain(self, value: Any) -> Any:
        return [self.of.plain(item) for item in value]


@dataclass(frozen=True)
class Section(Kind):
    """A section with the keys of a class; those that have defaults there need not be stated."""

    of: type

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of its keys."""
        return {each.name: each.metadata["kind"] for each in fields(self.of)}

    def title(self) -> str:
        return f"a section with {', '.join(self.kinds)}"

    def made(self, value: Any, path: KeyPath, found: list[Problem]) -> Any:
        if not isinstance(value, Mapping):
            found.append((path, f"must be {self.title()}"))
            return None
        n_before, stated, kinds = len(found), {}, self.kinds
        for key in value:
            if key not in kinds:
                found.append(((*path, str(key)), f"{UNKNOWN}{did_you_mean(str(key), kinds)}"))
        for each in fields(self.of):
            kind, there = kinds[each.name], (*path, each.name)
            if each.name in value:
                stated[each.name] = kind.made(value[each.name], there, found)
            elif each.default is MISSING:
                found.append((there, f"missing, must be {kind.title()}"))
        return self.of(**stated) if len(found) == n_before else None

    def plain(self, value: Any) -> Any:
        return {name: kind.plain(getattr(value, name)) for name, kind in self.kinds.items()}


def from_plain(tree: object, kind: type[_Section]) -> _Section:
    """Return the configuration, or a section of it, that plain values state.

    Raises ValueError, which names the first problem, if there is one.
    """
    found: list[Problem] = []
    made: _Section = Section(kind).made(tree, (), found)
    for path, problem in found:
        raise ValueError(f"{'.'.join(map(str, path))}: {problem}")
    return made


def to_plain(section: object) -> dict[str, Any]:
    """Return a section in the words of config.yaml, sizes in bytes, lists as lists."""
    plain: dict[str, Any] = Section(type(section)).plain(section)
    return plain


def stated(kind: Kind, **default: Any) -> Any:
    """Return the field of a section that says such values."""
    return field(metadata={"kind": kind}, **default)


def section(of: type) -> Any:
    """Return the field with a section."""
    return stated(Section(of))


def testbeds(*names: str) -> Any:
    """Return the field with a list of testbeds."""
    return stated(ListOf(Testbed(*names)))


# Kinds that several sections have.
IMPLEMENTATION = Word("the name of a file in src/strategies, or NAME_xN", r"\w{1,60}")
IMPLEMENTATIONS = ListOf(IMPLEMENTATION, least=0)
SOME_IMPLEMENTATIONS = ListOf(IMPLEMENTATION)
SENDERS = ListOf(Word("iperf3, or the name of a file in src/strategies", r"[a-z][a-z0-9_]{0,59}"))
MSG_BYTES = ListOf(Size(least=1, most=64 << 20))
N_THREADS = ListOf(Number("threads", 1, 256))
CONNECTIONS = ListOf(Number("streams", 1, 64))
WORKING_SETS = ListOf(Or({"hot": "hot", "cold": "cold"}, Ring(least=4096, most=1 << 40)))
RECEIVED_BY = ListOf(Choice(*RECEIVERS))
PLACED = ListOf(Choice(*PLACEMENTS))
REPETITIONS = Number("repetitions", 1, 10_000)
SEED = Number(least=0)
ANY_SETTLING_S = Number("seconds", 0, 3600, whole=False)
ANY_WINDOW_S = Number("seconds", 0.001, 3600, whole=False)
# where other tools drive, which start and end in their own time
SETTLING_S = Number("seconds", 0.1, 60, whole=False)
WINDOW_S = Number("seconds", 0.5, 600, whole=False)
