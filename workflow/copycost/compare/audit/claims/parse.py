"""Reads a file of claims: from its YAML to typed values."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from reprlib import repr as shown
from typing import Any, TypeAlias

from copycost.compare.audit.claims.statements import (
    Change,
    Claim,
    Crossing,
    Measurements,
    Point,
    Region,
    Statement,
    Unclear,
    Value,
)
from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.quantities import base_of, find_quantity
from copycost.config.yaml_loader import read_yaml
from copycost.errors import ConfigError
from copycost.wording.numbers import parse_size

Part: TypeAlias = Mapping[str, Any]
Read: TypeAlias = Callable[[str, Any], Any]
"""Makes the typed value of a key of a plain one, or raises `Unclear`."""

_SMALLEST, _LARGEST = 1e-30, 1e30
_LARGEST_SIZE = 2**40
_LONGEST_LIST = 100
_ALIKE = 1.05
"""What differs by less than this factor is the same."""

_COLLAPSED = 0.5
"""What falls below this share of what it was has collapsed."""

_MORE, _LESS = Region(1.0, math.inf, strict=True), Region(0.0, 1.0, strict=True)
_NOT_MORE, _NOT_LESS, _SAME = Region(0.0, 1.0), Region(1.0, math.inf), Region(1 / _ALIKE, _ALIKE)
_WORDS = {
    **dict.fromkeys(("more", "higher", "grows", "rises", "increases"), _MORE),
    **dict.fromkeys(("less", "fewer", "lower", "falls", "drops", "decreases"), _LESS),
    **dict.fromkeys(("not more", "never more"), _NOT_MORE),
    **dict.fromkeys(("not less", "never less"), _NOT_LESS),
    **dict.fromkeys(("same", "equal", "unchanged"), _SAME),
    "collapses": Region(0.0, _COLLAPSED),
}


# What a single key says.


def _reads(be: str, is_right: Callable[[Any], bool], make: Callable[[Any], Any] = str) -> Read:
    """Return what makes a value of one that is right, and says of others what they must be."""

    def read(key: str, value: Any) -> Any:  # noqa: ANN401 - YAML is any of its types
        if not is_right(value):
            raise Unclear(f"{key}: got {shown(value)}, must be {be}")
        return make(value)

    return read


def _one_of(*words: str) -> Read:
    return _reads(f"one of {', '.join(words)}", words.__contains__)


def _number(least: float = -_LARGEST) -> Read:
    """Return what reads a number as it is written; YAML takes one such as 5e9 for a text."""
    be = f"a {'positive ' if least >= 0.0 else ''}number of at most {_LARGEST:g}"
    return _reads(be, lambda value: least <= _float_of(value) <= _LARGEST, lambda value: value)


def _float_of(value: object) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            return float(value)
    return math.nan


def _bytes_of(value: object) -> int:
    with suppress(ValueError):
        return parse_size(value if isinstance(value, int) else str(value)[:40])
    return 0


_text = _reads("a text", lambda value: isinstance(value, str))
_name = _reads("a name", lambda value: type(value) in (str, int, float))
_threads = _reads("a whole number from 1 to 100,000",
                  lambda value: type(value) is int and 1 <= value <= 100_000, int)  # fmt: skip
_size = _reads("a size from 1 B to 1 TiB, such as 65536 or 64KiB",
               lambda value: 1 <= _bytes_of(value) <= _LARGEST_SIZE, _bytes_of)  # fmt: skip
_plain_region = _reads(f"one of {', '.join(_WORDS)}",
                       lambda value: isinstance(value, str) and value.strip().lower() in _WORDS,
                       lambda word: _WORDS[word.strip().lower()])  # fmt: skip


def _metric(key: str, value: object) -> str:
    found = find_quantity(_name(key, value))
    if found is None or base_of(found).kind in ("label", "instant"):
        raise Unclear(f"{shown(value)} is no quantity")
    return found


def _each(read: Read) -> Read:
    """Return what reads a list, or a single value as a list of one."""

    def read_list(key: str, said: object) -> tuple[Any, ...]:
        values = said if isinstance(said, Sequence) and not isinstance(said, str) else [said]
        if len(values) > _LONGEST_LIST:
            raise Unclear(f"{key}: a list of {len(values)}, must be at most {_LONGEST_LIST} values")
        return tuple(read(key, one) for one in values)

    return read_list


_AMOUNTS = {
    "percent": _number(0.0), "factor": _number(_SMALLEST), "at_least": _number(_SMALLEST),
    "at_most": _number(_SMALLEST), "tolerance": _number(0.0),
}  # fmt: skip
_READ: Mapping[str, Read] = {
    "metric": _metric, "metrics": _each(_metric), "implementation": _name, "with": _name,
    "implementations": _each(_name), "size": _size, "from_size": _size, "up_to_size": _size,
    "up_to": _size, "threads": _threads, "below": _plain_region, "than": _number(), **_AMOUNTS,
}  # fmt: skip
"""Keys that mean the same wherever they stand; others are read with the statement."""


def _part(said: object, required: Sequence[str], allowed: Sequence[str] = ()) -> Part:
    """Return a part of a claim with its values read, as far as their keys alone tell how."""
    if not isinstance(said, Mapping):
        raise Unclear(f"got {shown(said)}, must have {', '.join(required)}")
    missing = [key for key in required if key not in said]
    if missing:
        raise Unclear(f"{missing[0]} is missing")
    known = (*required, *allowed)
    foreign = [key for key in said if key not in known]
    if foreign:
        raise Unclear(f"{foreign[0]}: unknown key; expected some of {', '.join(known)}")
    return {key: _READ[key](key, one) if key in _READ else one for key, one in said.items()}


# Where a ratio lies by its words and amounts.


def _region_of(part: Part) -> Region:
    """Return where a ratio lies by `is` and, where one is given, its amount."""
    plain: Region = _plain_region("is", part["is"])
    given = [key for key in _AMOUNTS if key in part]
    is_margin = plain in (_NOT_MORE, _NOT_LESS, _SAME)
    allowed = [["percent"], ["factor"]]
    if not is_margin:
        allowed += [["percent", "tolerance"], ["factor", "tolerance"],
                    ["at_least"], ["at_most"], ["at_least", "at_most"]]  # fmt: skip
    if not given:
        return plain
    if given not in allowed:
        told = ", or ".join(" and ".join(keys) for keys in allowed)
        raise Unclear(f"{given[0]}: got {', '.join(given)}, must be {told}")
    if is_margin:
        return _margin(part, plain)
    if given[0] in ("percent", "factor"):
        return _stated(part, given[0], grows=plain is _MORE)
    low, high = float(part.get("at_least", 1.0)), float(part.get("at_most", math.inf))
    if low > high:
        raise Unclear(f"at_most: got {shown(part['at_most'])}, must not be below {low:g}")
    return Region(low, high) if plain is _MORE else Region(1.0 / high, 1.0 / low)


def _margin(part: Part, plain: Region) -> Region:
    """Return where a ratio lies that may differ from 1 by so much."""
    if "factor" in part:
        factor = float(part["factor"])
        least, most = sorted((factor, 1.0 / factor))
    else:
        percent = float(part["percent"])
        most, least = 1.0 + percent / 100.0, 1.0 - percent / 100.0
        if plain is not _NOT_MORE and least <= 0.0:
            raise Unclear(f"percent: got {shown(part['percent'])}, must be below 100")
        if plain is _SAME:
            least = 1.0 / most
    return Region(0.0 if plain is _NOT_MORE else least, math.inf if plain is _NOT_LESS else most)


def _stated(part: Part, key: str, *, grows: bool) -> Region:
    """Return where a ratio lies that is a number, as exactly as the claim states it.

    It is within the tolerance; without one, it rounds to the number as it is written, or is within
    two percent of it.
    """
    value, decimals = float(part[key]), len(str(part[key]).partition(".")[2])
    slack = min(max(0.5 * 10.0**-decimals, 0.02 * value), 0.1 * value)
    slack = float(part.get("tolerance", slack))
    low, high = value - slack, value + slack
    if key == "percent":
        if not grows and value > 100.0:
            raise Unclear(f"percent: got {shown(part[key])}, must be at most 100 for what falls")
        low, high = (1.0 + end / 100.0 for end in ((low, high) if grows else (-high, -low)))
    elif grows and value < 1.0:
        raise Unclear(f"factor: got {shown(part[key])}, must be at least 1 for what grows")
    elif not grows and value > 1.0:
        low, high = 1.0 / high, 1.0 / max(low, _SMALLEST)
    return Region(max(low, 0.0), max(high, 0.0))


# The kinds of statements.


def _compare(part: Part) -> Change:
    limits = {key: part[key] for key in ("from_size", "up_to_size", "below") if key in part}
    from_, to = Point(part["with"]), Point(part["implementation"])
    return Change(part["metric"], from_, to, _region_of(part), **limits)


def _change(part: Part) -> Change:
    keys = ("implementation", "size", "threads")
    ends = [_part(part[end], (), keys) for end in ("from", "to")]
    if not ends[0] or ends[0].keys() != ends[1].keys():
        raise Unclear(f"from and to must name the same of {', '.join(keys)}")
    from_, to = (Point(*map(end.get, keys)) for end in ends)
    return Change(part["metric"], from_, to, _region_of(part),
                  implementations=part.get("implementations", ()))  # fmt: skip


def _more_is_better(metric: str, instead: str) -> bool:
    better = base_of(metric).more_is_better
    if better is None:
        raise Unclear(f"{metric} is neither good nor bad; {instead}")
    return better


def _crossover(part: Part) -> Crossing:
    is_from = "from" in part
    if is_from == ("up_to" in part):
        raise Unclear("crossover: must have one of from and up_to")
    better = _more_is_better(part["metric"], "compare says more or less of it")
    size = _size("from", part["from"]) if is_from else part["up_to"]
    return Crossing(part["metric"], part["implementation"], part["with"], size, is_from, better)


def _rank(part: Part) -> Change:
    word = _one_of("highest", "lowest", "best", "worst")("is", part["is"])
    is_highest = word == "highest"
    if word in ("best", "worst"):
        more_is_better = _more_is_better(part["metric"], "say highest or lowest")
        is_highest = more_is_better == (word == "best")
    to = Point(part["implementation"])
    return Change(part["metric"], None, to, _MORE if is_highest else _LESS)


def _value(part: Part) -> Value:
    is_: Any = _one_of("zero", "not zero", "above", "below")("is", part["is"])
    if (is_ in ("above", "below")) != ("than" in part):
        raise Unclear("than: belongs to above and below, and only to those")
    if "than" in part:
        than = float(part["than"])
        is_ = Region(*((than, math.inf) if is_ == "above" else (-math.inf, than)), strict=True)
    return Value(part["metric"], is_, part.get("implementations", ()))


_GRAMMAR: Mapping[str, tuple[Sequence[str], Sequence[str], Callable[[Part], Statement]]] = {
    "compare": (("metric", "implementation", "with", "is"),
                ("from_size", "up_to_size", "below", *_AMOUNTS), _compare),
    "crossover": (("metric", "implementation", "with"), ("from", "up_to"), _crossover),
    "rank": (("metric", "implementation", "is"), (), _rank),
    "change": (("metric", "from", "to", "is"), ("implementations", *_AMOUNTS), _change),
    "value": (("metric", "is"), ("than", "implementations"), _value),
    "measurements": (("metrics",), (), lambda part: Measurements(part["metrics"])),
}  # fmt: skip
"""The kinds of statements: the keys that each must have and may have, and what makes one."""

_FREE: Mapping[str, Read] = {
    "claim": _text, "question": lambda _, said: said, "note": lambda _, said: said,
    "threads": _each(_threads), "sizes": _each(_size), "dataset": _text,
    "in": _one_of("all", "most", "some"),
}  # fmt: skip


def parse_claim(said: Mapping[str, Any]) -> Claim:
    """Return a claim from its part of a file, or raise `Unclear`; of words alone, no statements."""
    known = (*_GRAMMAR, *_FREE)
    unknown = [key for key in said if key not in known]
    if unknown:
        raise Unclear(f"{unknown[0]}: unknown key; expected one of {', '.join(known)}")
    statements = tuple(
        make(_part(one, required, allowed))
        for kind, (required, allowed, make) in _GRAMMAR.items()
        for one in _each(lambda _, part: part)(kind, said.get(kind, ()))
    )
    if not statements and "claim" not in said:
        raise Unclear(f"says nothing of {', '.join(_GRAMMAR)}")
    part = {key: read(key, said[key]) for key, read in _FREE.items() if key in said}
    in_ = part.get("in", "all")
    if in_ != "all" and any(isinstance(one, Measurements) for one in statements):
        raise Unclear("in: belongs to claims about cells, not about columns")
    return Claim(part.get("claim", "").strip() or "(no words)", statements, part.get("sizes", ()),
                 part.get("threads", ()), part.get("dataset"), in_)  # fmt: skip


def read_claims(path: Path, dataset: Dataset) -> list[Claim]:
    """Return the claims about a dataset.

    A file holds a list of claims, alone or under ``claims:``, or one such list per dataset, by
    its name. A text in the list is a claim in words alone. ConfigError lists all that are not in
    the vocabulary at once.
    """
    problems: list[str] = []
    claims = []
    for at, said in enumerate(_items(read_yaml(path), dataset, path), 1):
        if not isinstance(said, str | Mapping):
            problems.append(f"{path}: claim {at}: got {shown(said)}, must be a mapping")
            continue
        try:
            claims.append(parse_claim({"claim": said} if isinstance(said, str) else said))
        except Unclear as error:
            problems.append(f"{path}: claim {at}: {error}; see docs/audit.md")
    if problems:
        raise ConfigError("\n".join(problems))
    return claims


def _items(content: Any, dataset: Dataset, path: Path) -> list[Any]:  # noqa: ANN401
    if isinstance(content, list):
        return content
    if not isinstance(content, Mapping):
        raise ConfigError(f"{path}: must hold a list of claims; see docs/audit.md")
    for name in ("claims", dataset.name, *dataset.datasets):
        if isinstance(content.get(name), list):
            return list(content[name])
    raise ConfigError(
        f"{path}: no claims about {dataset.name}; found lists for {', '.join(map(str, content))}; "
        "give a list under `claims:` or under the dataset's name"
    )
