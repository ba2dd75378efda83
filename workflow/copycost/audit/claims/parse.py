"""From the YAML of a claim to typed values."""

import math
from collections.abc import Callable, Mapping, Sequence
from reprlib import repr as shown
from typing import Any

from copycost.audit.claims.vocabulary import (
    Amount,
    Change,
    Claim,
    Is,
    Measurements,
    Point,
    Rank,
    Statement,
    Unclear,
    Value,
)
from copycost.audit.quantities import base_of, find_quantity, is_quantity
from copycost.wording.sizes import parse_size

_IS = {
    "more": Is.MORE, "higher": Is.MORE, "grows": Is.MORE, "rises": Is.MORE, "increases": Is.MORE,
    "less": Is.LESS, "fewer": Is.LESS, "lower": Is.LESS, "falls": Is.LESS, "drops": Is.LESS,
    "decreases": Is.LESS, "not more": Is.NOT_MORE, "never more": Is.NOT_MORE,
    "not less": Is.NOT_LESS, "never less": Is.NOT_LESS, "same": Is.SAME, "equal": Is.SAME,
    "unchanged": Is.SAME, "collapses": Is.COLLAPSES,
}  # fmt: skip
_RANKS = ("highest", "lowest", "best", "worst")
_VALUES = ("zero", "not zero", "above", "below")
KINDS = ("compare", "rank", "change", "value", "measurements")
_FREE = ("claim", "question", "note", "threads", "sizes", "dataset")
_SMALLEST, _LARGEST = 1e-30, 1e30
_LARGEST_SIZE = 2**40
_LONGEST_LIST = 100


def parse_claim(said: Mapping[str, Any]) -> Claim:
    """Return a claim from its part of a file; one in words alone has no statements.

    Raises
    ------
    Unclear
        If it is not in the vocabulary.
    """
    unknown = [key for key in said if key not in (*KINDS, *_FREE)]
    if unknown:
        raise Unclear(f"{unknown[0]}: unknown key; expected one of {', '.join((*KINDS, *_FREE))}")
    statements = [
        _PARSERS[kind](part) for kind in KINDS if kind in said for part in _list(said[kind])
    ]
    if not statements and "claim" not in said:
        raise Unclear(f"says nothing of {', '.join(KINDS)}")
    return Claim(
        text=(_text(said, "claim") or "").strip() or "(no words)",
        statements=tuple(statements),
        sizes=tuple(size_of(size) for size in _list(said.get("sizes", []))),
        threads=tuple(whole(count, "threads") for count in _list(said.get("threads", []))),
        question=whole(said["question"], "question") if "question" in said else None,
        dataset=_text(said, "dataset"),
    )


def _text(said: Mapping[str, Any], key: str) -> str | None:
    value = said.get(key)
    if value is not None and not isinstance(value, str):
        raise Unclear(f"{key}: got {shown(value)}, must be a text")
    return value


def metric_of(name: object) -> str:
    """Return the quantity that a claim names."""
    text = str(name)
    found = text if is_quantity(text) else find_quantity(text)
    if found is None or base_of(found).kind == "label":
        raise Unclear(f"{shown(name)} is no quantity")
    return found


def size_of(value: object) -> int:
    """Return a message size such as 65536 or 64KiB."""
    try:
        found = parse_size(value if isinstance(value, int) else str(value)[:40])
    except ValueError as error:
        raise Unclear(str(error)) from error
    if not 1 <= found <= _LARGEST_SIZE:
        raise Unclear(f"got {shown(value)}, must be a size from 1 B to 1 TiB")
    return found


def whole(value: object, what: str) -> int:
    """Return a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Unclear(f"{what}: got {shown(value)}, must be a whole number from 1")
    return value


def number(part: Mapping[str, Any], key: str, least: float = -_LARGEST) -> float:
    """Return a number of a claim; YAML takes one such as 5e9 for a text."""
    value = part[key]
    try:
        found = float("nan" if isinstance(value, bool) else value)
    except (TypeError, ValueError):
        found = math.nan
    if not least <= found <= _LARGEST:
        said = "a number" if least < 0.0 else "a positive number"
        raise Unclear(f"{key}: got {shown(value)}, must be {said} of at most {_LARGEST:g}")
    return found


def is_of(value: object) -> Is:
    """Return what a word such as ``more`` or ``falls`` claims."""
    word = str(value).strip().lower()
    if word not in _IS:
        raise Unclear(f"is: got {shown(value)}, must be one of {', '.join(_IS)}")
    return _IS[word]


def amount_of(part: Mapping[str, Any], is_: Is) -> Amount | None:
    """Return how much a claim says: `percent` or `factor`, or `at_least`, `at_most` of a factor.

    A number counts as met if the value agrees with it within two percent of it, or rounds to it.
    """
    if "at_least" in part or "at_most" in part:
        low = number(part, "at_least", _SMALLEST) if "at_least" in part else 1.0
        high = number(part, "at_most", _SMALLEST) if "at_most" in part else math.inf
        if is_ in (Is.LESS, Is.NOT_MORE):
            low, high = 1.0 / high, 1.0 / low
        return Amount(low, high)
    if "percent" in part:
        percent = number(part, "percent", 0.0)
        slack = slack_of(part["percent"])
        sign = -1.0 if is_ in (Is.LESS, Is.NOT_MORE) else 1.0
        ends = sorted(1.0 + sign * (percent + side * slack) / 100.0 for side in (-1, 1))
        return Amount(ends[0], ends[1])
    if "factor" in part:
        factor = number(part, "factor", _SMALLEST)
        slack = slack_of(part["factor"])
        low, high = factor - slack, factor + slack
        if is_ in (Is.LESS, Is.NOT_MORE) and factor > 1.0:
            low, high = 1.0 / high, 1.0 / low
        return Amount(low, high)
    return None


def slack_of(number: object) -> float:
    """Return by how much a value may differ from a number as it was written."""
    decimals = len(str(number).partition(".")[2])
    value = abs(float(str(number)))
    return min(max(0.5 * 10.0**-decimals, 0.02 * value), 0.1 * value)


def _list(value: object) -> list[Any]:
    values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if len(values) > _LONGEST_LIST:
        raise Unclear(f"a list of {len(values)}, must be at most {_LONGEST_LIST} values")
    return values


def _need(part: object, required: Sequence[str], allowed: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(part, Mapping):
        raise Unclear(f"got {shown(part)}, must have {', '.join(required)}")
    missing = [key for key in required if key not in part]
    foreign = [key for key in part if key not in (*required, *allowed)]
    if missing:
        raise Unclear(f"{missing[0]} is missing")
    if foreign:
        raise Unclear(f"{foreign[0]}: unknown; expected some of {', '.join((*required, *allowed))}")
    return part


_AMOUNT = ("percent", "factor", "at_least", "at_most")


def _compare(said: object) -> Change:
    part = _need(said, ("metric", "implementation", "with", "is"),
                 ("from_size", "up_to_size", "below", *_AMOUNT))  # fmt: skip
    is_ = is_of(part["is"])
    return Change(
        metric=metric_of(part["metric"]),
        from_=Point(implementation=str(part["with"])),
        to=Point(implementation=str(part["implementation"])),
        is_=is_,
        amount=amount_of(part, is_),
        from_size=size_of(part["from_size"]) if "from_size" in part else None,
        up_to_size=size_of(part["up_to_size"]) if "up_to_size" in part else None,
        below=is_of(part["below"]) if "below" in part else None,
    )


def _change(said: object) -> Change:
    part = _need(said, ("metric", "from", "to", "is"), ("implementations", *_AMOUNT))
    is_ = is_of(part["is"])
    from_, to = _point(part["from"]), _point(part["to"])
    for name in ("implementation", "msg_bytes", "n_threads"):
        if (getattr(from_, name) is None) != (getattr(to, name) is None):
            raise Unclear("from and to must name the same of implementation, size, threads")
    if from_ == Point():
        raise Unclear("from and to must name an implementation, a size or a number of threads")
    return Change(
        metric=metric_of(part["metric"]),
        from_=from_,
        to=to,
        is_=is_,
        amount=amount_of(part, is_),
        implementations=tuple(map(str, _list(part.get("implementations", [])))),
    )


def _point(said: object) -> Point:
    part = _need(said, (), ("implementation", "size", "threads"))
    return Point(
        implementation=str(part["implementation"]) if "implementation" in part else None,
        msg_bytes=size_of(part["size"]) if "size" in part else None,
        n_threads=whole(part["threads"], "threads") if "threads" in part else None,
    )


def _rank(said: object) -> Rank:
    part = _need(said, ("metric", "implementation", "is"), ())
    metric, word = metric_of(part["metric"]), str(part["is"])
    if word not in _RANKS:
        raise Unclear(f"is: got {shown(word)}, must be one of {', '.join(_RANKS)}")
    highest = word == "highest"
    if word in ("best", "worst"):
        better = base_of(metric).more_is_better
        if better is None:
            raise Unclear(f"{metric} is neither good nor bad; say highest or lowest")
        highest = better == (word == "best")
    return Rank(metric, str(part["implementation"]), highest)


def _value(said: object) -> Value:
    part = _need(said, ("metric", "is"), ("than", "implementations"))
    word = str(part["is"])
    if word not in _VALUES:
        raise Unclear(f"is: got {shown(word)}, must be one of {', '.join(_VALUES)}")
    if (word in ("above", "below")) != ("than" in part):
        raise Unclear("than: belongs to above and below, and only to those")
    names = tuple(map(str, _list(part.get("implementations", []))))
    than = number(part, "than") if "than" in part else 0.0
    return Value(metric_of(part["metric"]), word, than, names)


def _measurements(said: object) -> Measurements:
    part = _need(said, ("metrics",), ())
    return Measurements(tuple(metric_of(name) for name in _list(part["metrics"])))


_PARSERS: dict[str, Callable[[object], Statement]] = {
    "compare": _compare,
    "rank": _rank,
    "change": _change,
    "value": _value,
    "measurements": _measurements,
}
