"""From the words and numbers of a claim to where it says that a ratio lies."""

import math
from collections.abc import Mapping
from contextlib import suppress
from reprlib import repr as shown
from typing import Any

from copycost.audit.claims.vocabulary import Region, Unclear

AMOUNTS = ("percent", "factor", "at_least", "at_most", "tolerance")
SMALLEST, LARGEST = 1e-30, 1e30
ALIKE = 1.05
"""What differs by less than this factor is the same."""
COLLAPSED = 0.5
"""What falls below this share of what it was has collapsed."""

_MORE, _LESS, _SAME, _COLLAPSES = "more", "less", "same", "collapses"
_NOT_MORE, _NOT_LESS = "not more", "not less"
_WORDS = {
    "more": _MORE, "higher": _MORE, "grows": _MORE, "rises": _MORE, "increases": _MORE,
    "less": _LESS, "fewer": _LESS, "lower": _LESS, "falls": _LESS, "drops": _LESS,
    "decreases": _LESS, "not more": _NOT_MORE, "never more": _NOT_MORE,
    "not less": _NOT_LESS, "never less": _NOT_LESS, "same": _SAME, "equal": _SAME,
    "unchanged": _SAME, "collapses": _COLLAPSES,
}  # fmt: skip
_PLAIN = {
    _MORE: Region(1.0, math.inf, strict=True),
    _LESS: Region(0.0, 1.0, strict=True),
    _NOT_MORE: Region(0.0, 1.0),
    _NOT_LESS: Region(1.0, math.inf),
    _SAME: Region(1.0 / ALIKE, ALIKE),
    _COLLAPSES: Region(0.0, COLLAPSED),
}


def region_of(part: Mapping[str, Any]) -> Region:
    """Return where a ratio lies by `is` and, where it says how much, by its amount.

    Raises
    ------
    Unclear
        If a word or a number is not in the vocabulary.
    """
    is_ = _direction(part["is"])
    given = [key for key in AMOUNTS if key in part]
    if not given:
        return _PLAIN[is_]
    if is_ in (_NOT_MORE, _NOT_LESS, _SAME):
        return _margin(part, is_, given)
    if "at_least" in part or "at_most" in part:
        return _bounded(part, is_, given)
    return _stated(part, is_, given)


def plain_region(word: object) -> Region:
    """Return where a ratio lies by a word such as ``less`` alone."""
    return _PLAIN[_direction(word)]


def _direction(word: object) -> str:
    text = word.strip().lower() if isinstance(word, str) else ""
    if text not in _WORDS:
        raise Unclear(f"is: got {shown(word)}, must be one of {', '.join(_WORDS)}")
    return _WORDS[text]


def _only(given: list[str], *sets: set[str]) -> None:
    """Refuse amounts that do not go together."""
    if set(given) not in sets:
        said = " or ".join(" and ".join(sorted(one)) for one in sets)
        raise Unclear(f"{given[0]}: got {', '.join(given)}, must be {said}")


def _margin(part: Mapping[str, Any], is_: str, given: list[str]) -> Region:
    """Return where a ratio lies that may differ from 1 by so much."""
    _only(given, {"percent"}, {"factor"})
    if "percent" in part:
        percent = number(part, "percent", 0.0)
        most, least = 1.0 + percent / 100.0, 1.0 - percent / 100.0
        if is_ != _NOT_MORE and least <= 0.0:
            raise Unclear(f"percent: got {shown(part['percent'])}, must be below 100")
        if is_ == _SAME:
            least = 1.0 / most
    else:
        factor = number(part, "factor", SMALLEST)
        most, least = max(factor, 1.0 / factor), min(factor, 1.0 / factor)
    return {
        _NOT_MORE: Region(0.0, most),
        _NOT_LESS: Region(least, math.inf),
        _SAME: Region(least, most),
    }[is_]


def _bounded(part: Mapping[str, Any], is_: str, given: list[str]) -> Region:
    _only(given, {"at_least"}, {"at_most"}, {"at_least", "at_most"})
    low = number(part, "at_least", SMALLEST) if "at_least" in part else 1.0
    high = number(part, "at_most", SMALLEST) if "at_most" in part else math.inf
    if low > high:
        raise Unclear(f"at_most: got {shown(part['at_most'])}, must not be below {low:g}")
    return Region(low, high) if is_ == _MORE else Region(1.0 / high, 1.0 / low)


def _stated(part: Mapping[str, Any], is_: str, given: list[str]) -> Region:
    """Return where a ratio lies that is a number, as exactly as the claim states it."""
    _only(given, *({key, *more} for key in ("percent", "factor") for more in ((), ("tolerance",))))
    key = "percent" if "percent" in part else "factor"
    value = number(part, key, 0.0 if key == "percent" else SMALLEST)
    slack = number(part, "tolerance", 0.0) if "tolerance" in part else _slack(part[key])
    low, high = value - slack, value + slack
    if key == "percent":
        if is_ != _MORE and value > 100.0:
            raise Unclear(f"percent: got {shown(part[key])}, must be at most 100 for what falls")
        ends = (low, high) if is_ == _MORE else (-high, -low)
        low, high = (max(1.0 + end / 100.0, 0.0) for end in ends)
    elif is_ == _MORE:
        if value < 1.0:
            raise Unclear(f"factor: got {shown(part[key])}, must be at least 1 for what grows")
        low = max(low, 0.0)
    elif value > 1.0:
        low, high = 1.0 / high, 1.0 / max(low, SMALLEST)
    return Region(max(low, 0.0), high)


def _slack(value: object) -> float:
    """Return by how much a value may differ from a number as it was written.

    It agrees with it if it rounds to it, or is within two percent of it.
    """
    decimals = len(str(value).partition(".")[2])
    size = abs(float(str(value)))
    return min(max(0.5 * 10.0**-decimals, 0.02 * size), 0.1 * size)


def number(part: Mapping[str, Any], key: str, least: float = -LARGEST) -> float:
    """Return a number of a claim; YAML takes one such as 5e9 for a text.

    Raises
    ------
    Unclear
        If it is none, or beyond `least` or the largest that is taken.
    """
    value = part[key]
    found = math.nan
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            found = float(value)
    if not least <= found <= LARGEST:
        said = "a number" if least < 0.0 else "a positive number"
        raise Unclear(f"{key}: got {shown(value)}, must be {said} of at most {LARGEST:g}")
    return found
