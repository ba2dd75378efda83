# ruff: noqa: ANN401 - values are any plain ones
"""What each key of the configuration may say: its kind, which the type of a field has.

A section is a dataclass. A field that is a truth value, a `Literal`, another section, or a tuple of
such has the kind that follows from it; any other is `Annotated` with its kind. defaults.yaml and
config.yaml explain the keys.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from math import inf, isinf
from typing import Annotated, Any, TypeVar, get_args, get_origin

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


@dataclass(frozen=True, slots=True)
class Kind:
    """What values a key may have.

    `title` says it, as the end of a sentence with "must be". `typed` returns the typed value of a
    plain one, as YAML and Snakemake have it, and adds what is wrong with it, and with those in it,
    to a list; `plain` turns a typed value back.
    """

    title: str
    typed: Callable[[Any, KeyPath, list[Problem]], Any]
    plain: Callable[[Any], Any] = lambda value: value


class _Explained(ValueError):
    """Says what is wrong with a value, where a title does not."""


def _single(title: str, convert: Callable[[Any], Any]) -> Kind:
    """Return the kind of single values that `convert` takes; it raises ValueError for others."""

    def typed(value: Any, path: KeyPath, found: list[Problem]) -> Any:
        try:
            return convert(value)
        except ValueError as error:
            explained = isinstance(error, _Explained)
            found.append((path, str(error) if explained else f"must be {title}"))
            return None

    return Kind(title, typed)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _within(value: Any, least: float, most: float, *, whole: bool = True) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    is_within = least <= value <= most  # NaN is not
    if not is_within or (whole and value % 1):
        raise ValueError
    return int(value) if whole else float(value)


def number(of: str = "", least: float = -inf, most: float = inf, *, whole: bool = True) -> Kind:
    """Return the kind of numbers of something within bounds, whole unless it is said otherwise."""
    what = f"a {'whole ' if whole else ''}number{f' of {of}' if of else ''}"
    bounds = f", {least} or more" if isinf(most) else f" from {least} to {most}"
    return _single(what + bounds, lambda value: _within(value, least, most, whole=whole))


def size(least: int, most: int, made: Callable[[int], Any] = int) -> Kind:
    """Return the kind of sizes in bytes, or texts such as 64KiB, each made into a type."""

    def convert(value: Any) -> Any:
        return made(_within(parse_size(value) if isinstance(value, str) else value, least, most))

    bounds = f"from {format_size(least)} to {format_size(most)}"
    return _single(f"a size {bounds}, such as 8192 or 8KiB", convert)


def word(what: str, pattern: str = ".+", most: int | None = None) -> Kind:
    """Return the kind of texts that match a pattern as a whole, of so many characters at most."""

    def convert(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError
        text = value.strip()
        if most is not None and len(text) > most:
            raise _Explained(f"has {len(text)} characters, must have at most {most}")
        if not re.fullmatch(pattern, text):
            raise ValueError
        return text

    return _single(what, convert)


def choice(*options: Any) -> Kind:
    """Return the kind of a few values."""
    title = f"one of {', '.join(map(str, options))}"

    def convert(value: Any) -> Any:
        if isinstance(value, bool) and value not in options:
            value = "on" if value else "off"  # as these words are for YAML
        if not any(type(one) is type(value) and one == value for one in options):
            meant = did_you_mean(value, options) if isinstance(value, str) else ""
            raise _Explained(f"must be {title}{meant}")
        return value

    return _single(title, convert)


def testbeds(*names: str) -> Kind:
    """Return the kind of lists of testbeds; with one over a wire, a machine may be named."""
    plainly = choice(*names)

    def typed(value: Any, path: KeyPath, found: list[Problem]) -> Any:
        if isinstance(value, str) and kind_of(value) in names:
            return value
        if isinstance(value, str) and value in TESTBEDS:
            place = "streams" if transport_of(value) == "stream" else "udp"
            found.append((path, f"must be {plainly.title}; {value} belongs in {place}"))
            return None
        return plainly.typed(value, path, found)

    return list_of(Kind(plainly.title, typed))


def either(words: Mapping[str, Any], of: Kind) -> Kind:
    """Return the kind of words that each become a value, and of what another kind takes."""
    title = f"{', '.join(words)}, or {of.title}"

    def typed(value: Any, path: KeyPath, found: list[Problem]) -> Any:
        name = NONE if value is None else value
        if isinstance(name, str) and name in words:
            return words[name]
        below: list[Problem] = []
        made = of.typed(value, path, below)
        if below and not isinstance(value, list | Mapping):
            below = [(path, f"must be {title}")]
        found += below
        return made

    def plain(value: Any) -> Any:
        names = (name for name, becomes in words.items() if becomes == value)
        return next(names, None) or of.plain(value)

    return Kind(title, typed, plain)


def list_of(of: Kind, least: int = 1, most: int = MOST_ITEMS, *, may_repeat: bool = False) -> Kind:
    """Return the kind of lists of different values of one kind, so many at least and at most."""
    title = f"a list{f' of {least} or more' if least else ''}, each {of.title}"

    def typed(value: Any, path: KeyPath, found: list[Problem]) -> Any:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) < least:
            found.append((path, f"must be {title}"))
            return None
        if len(value) > most:
            found.append((path, f"has {len(value)} values, must have at most {most}"))
            return None
        made = [of.typed(item, (*path, place), found) for place, item in enumerate(value)]
        for place, item in enumerate(made):
            if item is not None and item in made[:place] and not may_repeat:
                once = "more than once, must list each value once"
                found.append((path, f"has {value[place]!r:.80} {once}"))
        return tuple(made)

    return Kind(title, typed, lambda value: [of.plain(item) for item in value])


def section(of: type) -> Kind:
    """Return the kind of sections with the keys of a class; those with defaults may be left out."""
    kinds = {each.name: _kind(each.type) for each in fields(of)}
    title = f"a section with {', '.join(kinds)}"

    def typed(value: Any, path: KeyPath, found: list[Problem]) -> Any:
        if not isinstance(value, Mapping):
            found.append((path, f"must be {title}"))
            return None
        n_before, stated = len(found), {}
        for key in value:
            if key not in kinds:
                found.append(((*path, str(key)), f"{UNKNOWN}{did_you_mean(str(key), kinds)}"))
        for each in fields(of):
            kind, there = kinds[each.name], (*path, each.name)
            if each.name in value:
                stated[each.name] = kind.typed(value[each.name], there, found)
            elif each.default is MISSING:
                found.append((there, f"missing, must be {kind.title}"))
        return of(**stated) if len(found) == n_before else None

    return Kind(
        title,
        typed,
        lambda value: {name: kind.plain(getattr(value, name)) for name, kind in kinds.items()},
    )


def _kind(annotation: Any) -> Kind:
    """Return the kind of a field's type."""
    stated: tuple[Kind, ...] = getattr(annotation, "__metadata__", ())
    if stated:
        return stated[0]
    if get_origin(annotation) is tuple:
        return list_of(_kind(get_args(annotation)[0]))
    if isinstance(annotation, type) and is_dataclass(annotation):
        return section(annotation)
    return _single("true or false", _truth) if annotation is bool else choice(*get_args(annotation))


def from_plain(tree: object, kind: type[_Section]) -> _Section:
    """Return the configuration, or a section of it, that plain values state.

    Raises ValueError, which names the first problem, if there is one.
    """
    found: list[Problem] = []
    made: _Section = section(kind).typed(tree, (), found)
    for path, problem in found:
        raise ValueError(f"{'.'.join(map(str, path))}: {problem}")
    return made


def to_plain(section_: object) -> dict[str, Any]:
    """Return a section in the words of config.yaml, sizes in bytes, lists as lists."""
    plain: dict[str, Any] = section(type(section_)).plain(section_)
    return plain


# Types of fields that several sections have.
Repetitions = Annotated[int, number("repetitions", 1, 10_000)]
Seed = Annotated[int, number(least=0)]
Settling = Annotated[float, number("seconds", 0, 3600, whole=False)]
Window = Annotated[float, number("seconds", 0.001, 3600, whole=False)]
KERNEL = word("auto, or the path of a kernel", most=4096)
