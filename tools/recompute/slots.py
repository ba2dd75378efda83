"""What a sentence's pattern is made of, and how a printed number is held against a recomputed one.

A pattern is a piece of a sentence with slots: ``<impl> was faster than <impl> <at>``. Numeric slots
are ``<x>`` (a value), ``<n>`` (a whole number, in digits or in words), ``<p>`` (percent), ``<i>``
(an interval in brackets), ``<e>`` (its ends alone), ``<d>`` (all of whose digits count), ``<ps>``
(percent from to), ``<pe>`` (percent with its interval), ``<shares>`` (several with their names),
``<ints>`` (several whole numbers), ``<times>`` (the same of times), ``<size>``, ``<sizes>``,
``<at>``, ``<threads>``; the others are names.
"""

import math
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from tools.recompute.document import NUMBER
from tools.recompute.estimates import Estimate
from tools.recompute.functions import titles

WORDS = (
    "no", "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SCALES = {"gbit/s": 1e9, "mbit/s": 1e6, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
# An interval wider than this, as a factor, is not printed.
VAGUE = 20.0
# The same of a share, as a difference.
_VAGUE_SHARE = 0.5
_ONE_DECIMAL = 10.0
# What is left of 0 after sums of floats.
_ROUNDING = 1e-9

Said: TypeAlias = Any
"""What a slot says: a number, several of them, a name or a text."""

_X = r"[+\u2212]?\d[\d,]*(?:\.\d+)?"
_SIZE = rf"{_X} (?:B|[KMG]iB)"
_LIST = rf"(?:{_SIZE}, )*{_SIZE}(?: and {_SIZE})?"
_TIME = r"(?:ns|µs|ms|s)"
_THREADS = r"(?:with )?(?:every number of threads|(?:\d+, )*\d+(?: and \d+)? threads?)"
_SLOTS = {
    "x": _X,
    "n": rf"(?:{'|'.join(WORDS)}|none|\d[\d,]*)",
    "p": rf"(?:under |over )?{_X} %",
    "i": r"\((?:ratio [\d.,]+, )?(?:[\d.]+ % interval [\u2212\d.,]+(?: to [\u2212\d.,]+)?"
    r"(?: [GM]bit/s)?|too uncertain for an interval|observed once, no interval)\)",
    "e": rf"\({_X}(?: to {_X})?\)",
    "d": r"\d+\.\d+",
    "pe": rf"(?:under )?{_X} %(?: \((?:{_X}(?: to {_X})? %|too wide)\))?",
    "ints": r"(?:\d+, )*\d+(?: and \d+)?",
    "ps": rf"(?:{_X} to )?(?:under |over )?{_X} %",
    "size": _SIZE,
    "about": _SIZE,
    "sizes": _LIST,
    "span": rf"{_X}(?: (?:B|[KMG]iB))? (?:to|and) {_SIZE}",
    "at": rf"(?:at every size|up to {_SIZE}|from {_SIZE} up|at {_LIST})",
    "threads": _THREADS,
    "time": rf"{_X} (?:ms|s)",
    "times": rf"(?:{_X}(?: {_TIME})? to )?{_X} {_TIME}",
    "rate": rf"{_X} [GM]bit/s",
    "impl": r"`\w+`",
    "cost": r"(?:sender )?(?:CPU cycles|CPU time)(?: of both machines)?",
    "cache": r"(?:L1d|L2|the last-level cache|memory)",
    "trip": r"the (?:median round trip|99th percentile)",
    "unit": r"(?:cycles|ns)",
    "cpus": r"\d+(?:, \d+)*",
    "statement": r"[^*]+?(?=\.$|\.\*)",
    "shares": r"[^:]+?(?=\.?$)",
    "case": r"`\w+`(?: against `\w+`)?(?:, compared with `\w+`)?"
    rf"(?:, from {_SIZE} to {_SIZE}|, {_SIZE}|, from \d+ to \d+ threads|, \d+ threads?)+",
    "work": rf"(?:{'|'.join(titles())})(?: \((?:sender|receiver)\))?",
    "grown": r"(?:context switches per message|"
    r"misses of the (?:L1 data|last-level) cache per byte)",
    "level": r"misses of the (?:L1 data|last-level) cache",
    "layer": r"misses of the (?:L1 data|L2|last-level) cache",
    "store": r"the (?:L1 data|L2|last-level) cache",
}


NAMES = frozenset(
    {"impl", "cost", "unit", "level", "layer", "store", "grown", "cache", "trip", "work"}
)
"""Slots that say what the others are about."""


def compiled(pattern: str) -> tuple[re.Pattern[str], list[str]]:
    """Return a pattern's regular expression and the types of its slots, one group each."""
    kinds = re.findall(r"<(\w+)>", pattern)
    pieces = [re.escape(piece) for piece in re.split(r"<\w+>", pattern)]
    expression = "".join(
        piece + (f"({_SLOTS[kind]})" if kind else "")
        for piece, kind in zip(pieces, [*kinds, ""], strict=True)
    )
    return re.compile(rf"(?<![\w`]){expression}(?![\w`])", re.IGNORECASE), kinds


def read(kind: str, text: str, sizes: Iterable[int] = ()) -> Said:
    """Return what the text of a slot says; of an estimated size, which is meant.

    A whole one is a measured one, which is printed to the byte.
    """
    if kind == "n":
        return 0 if text == "none" else whole(text)
    if kind in ("size", "about"):
        number, unit = text.split()
        said = plain(number) * _UNITS[unit]
        meant = min(sizes, key=lambda size: abs(size - said), default=said)
        is_near = abs(meant - said) <= precision(number) * _UNITS[unit]
        return meant if is_near and not float(meant).is_integer() else round(said)
    if kind == "span":
        first, last = re.split(" to | and ", text)
        unit = "" if " " in first else f" {last.split()[1]}"
        return read("size", first + unit, sizes), read("size", last, sizes)
    if kind in ("sizes", "at"):
        return tuple(read("size", size, sizes) for size in re.findall(_SIZE, text))
    if kind in ("threads", "ints"):
        return tuple(int(n) for n in re.findall(r"\d+", text))
    if kind == "impl":
        return text.strip("`")
    return text


def whole(text: str) -> int:
    """Return a whole number, in digits or in words."""
    return WORDS.index(text.lower()) if text.lower() in WORDS else int(text.replace(",", ""))


def plain(text: str) -> float:
    """Return a number as it is printed."""
    return float(text.replace(",", "").replace("\u2212", "-"))


def agrees(kind: str, text: str, expected: Said, resampling: float = 0.0) -> bool:
    """Tell whether a slot says what is expected.

    `resampling` is by how much an interval of drawn resamples may differ, in their own error.
    """
    if kind == "i":
        return _interval_agrees(text, expected, resampling)
    if kind in ("x", "p", "rate", "time"):
        return bool(_value_agrees(text, expected))
    if kind == "ps":
        first, _, last = text.rpartition(" to ")
        ends = (f"{first} %" if first else last, last)
        return all(_value_agrees(end, value) for end, value in zip(ends, expected, strict=True))
    if kind == "times":
        first, _, last = text.rpartition(" to ")
        unit = last.rpartition(" ")[2]
        ends = (first if " " in first else f"{first} {unit}" if first else last, last)
        return all(_value_agrees(end, value) for end, value in zip(ends, expected, strict=True))
    if kind == "e":
        return ends_agree(text, expected, resampling)
    if kind == "d":
        return bool(abs(plain(text) - expected) <= _last_place(text))
    if kind == "pe":
        return percent_agrees(text, expected, resampling, share=True)
    if kind == "shares":
        told = re.findall(r"(?:under )?[\d.]+ %", text)
        return len(told) == len(expected) and all(map(_value_agrees, told, expected))
    if kind == "at":
        word, sizes = at_sizes(*expected)
        return text.lower().startswith(word) and read(kind, text, sizes) == sizes
    if kind in ("size", "about"):
        return bool(read(kind, text, [expected]) == expected)
    if kind in ("sizes", "span"):
        return bool(read(kind, text, expected) == tuple(expected))
    return bool(read(kind, text) == expected)


def _value_agrees(text: str, expected: float, slack: float = 0.0) -> bool:
    if expected is None or math.isnan(expected):
        return False
    number, _, unit = text.lower().rpartition(" ") if " " in text else (text, "", "")
    if unit == "%":
        expected, slack = 100.0 * expected, 100.0 * slack
    expected /= _SCALES.get(unit, 1.0)
    if number.startswith("under "):
        return abs(expected) + slack > 0.0 and abs(expected) - slack < plain(number[6:])
    if number.startswith("over "):
        return plain(number[5:]) < expected + slack and expected - slack < 100.0
    printed = _percent_precision(number) if unit == "%" else precision(number)
    return abs(plain(number) - expected) <= printed * 1.0001 + slack


def _percent_precision(number: str) -> float:
    """Return by how much rounding may have moved a percentage: only nothing is 0 %, only all 100 %.

    Below 10 and next to 100 it has a decimal, whose zero is not printed.
    """
    value = abs(plain(number))
    if value in (0.0, 100.0):
        return 1e-9 if value == 0.0 else 0.5
    return 0.05 if value < _ONE_DECIMAL or "." in number else 0.5


def precision(number: str) -> float:
    """Return by how much rounding may have moved a number: half of its last place.

    Texts print two or three digits of a large number, so zeros behind the second say nothing.
    """
    digits = number.lstrip("+\u2212").replace(",", "")
    if "." in digits:
        return float(0.5 * 10.0 ** -len(digits.partition(".")[2]))
    zeros = len(digits) - len(digits.rstrip("0"))
    return float(0.5 * 10.0 ** min(zeros, max(len(digits) - 2, 0)))


def _last_place(number: str) -> float:
    """Return half of the last place of a number whose zeros all count."""
    return float(0.50005 * 10.0 ** -len(number.partition(".")[2]))


def _interval_agrees(text: str, expected: Estimate, resampling: float) -> bool:
    if "observed once" in text:
        return math.isnan(expected.low)
    told = re.search(r"\d", text.split("interval")[-1])
    if not told:
        return is_vague(expected, resampling)
    middle = re.match(r"\(ratio ([\d.,]+)", text)
    return (middle is None or _value_agrees(middle[1], expected.value)) and ends_agree(
        text.split("interval")[-1], expected, resampling
    )


def ends_agree(text: str, expected: Estimate, resampling: float) -> bool:
    """Tell whether a text has the ends of an interval; where they round alike it has one."""
    ends = re.findall(r"[+\u2212]?[\d.,]*\d", text)
    found = zip((ends[0], ends[-1]), (expected.low, expected.high), expected.scatter, strict=True)
    return all(
        abs(plain(end) - value) <= precision(end) * 1.0001 + resampling * scatter + _ROUNDING
        for end, value, scatter in found
    )


def is_vague(expected: Estimate, resampling: float) -> bool:
    """Tell whether an interval is too wide to be printed; by the errors of resampling it may be."""
    low = expected.low - resampling * expected.scatter[0]
    high = expected.high + resampling * expected.scatter[1]
    return low <= 0 or high / low > VAGUE


def percent_agrees(text: str, expected: Estimate, resampling: float, *, share: bool) -> bool:
    """Tell whether a field shows an estimate in percent: ``73 % (71 to 75 %)``.

    Of a share, an interval over more than a half is called too wide.
    """
    middle, _, ends = text.partition(" % ")
    if not _value_agrees(f"{middle.removesuffix(' %')} %", expected.value):
        return False
    if math.isnan(expected.low) or not ends:
        return math.isnan(expected.low) and not ends
    if ends == "(too wide)":
        if not share:
            return is_vague(expected, resampling)
        slack = resampling * sum(expected.scatter)
        return expected.high - expected.low + slack > _VAGUE_SHARE
    first, _, last = ends.strip("()").partition(" to ")
    told = (f"{first.removesuffix(' %')} %", last or first)
    found = zip(told, (expected.low, expected.high), expected.scatter, strict=True)
    return all(_value_agrees(end, value, resampling * scatter) for end, value, scatter in found)


def at_sizes(some: Iterable[int], every: Iterable[int]) -> tuple[str, tuple[int, ...]]:
    """Return in which words sizes are told, and which of them the words name."""
    here, all_sizes = tuple(sorted(some)), tuple(sorted(every))
    if len(here) == 1:
        return "at", here
    if here == all_sizes:
        return "at every size", ()
    if here == all_sizes[: len(here)]:
        return "up to", here[-1:]
    if here == all_sizes[-len(here) :]:
        return "from", here[:1]
    return "at", here


def has_number(text: str) -> bool:
    """Tell whether a text has a number in digits."""
    return NUMBER.search(text) is not None
