"""The numbers of the report against the values and sources that numbers.csv has of them."""

import csv
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from copycost.wording.number_sources import numbers_in
from tools.recompute.rebuild import ROOT, in_json, in_table

_FORMULA = re.compile(r"(.*?)((?: (?:\*|/|\+|-|from) \S+)*)$", re.DOTALL)
_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_SCALES: Mapping[str, tuple[float, ...]] = {
    **{"%": (100.0, 1.0), "Gbit/s": (1e-9,), "Mbit/s": (1e-6,)},
    **{"GiB": (2.0**-30,), "MiB": (2.0**-20,), "KiB": (2.0**-10,), "B": (1.0,)},
    **{"ns": (1.0, 1e9, 1e3), "µs": (1e-3, 1e6, 1.0), "ms": (1e-6, 1e3, 1e-3)},
    "s": (1e-9, 1.0, 1e-6),
}
"""By unit, what a value may be multiplied by: rates are in bit/s, times in s, ns or µs."""
_RATE = 1e5  # above it, a value without a unit may be in Gbit/s, as the head of its column says


def wrong_numbers(results: Path) -> Iterator[str]:
    """Yield where a number's source has another value, or it reads as another."""
    if not (results / "report/numbers.csv").is_file():
        yield "report/numbers.csv: is not there"
        return
    for number, row in enumerate(_numbers(results), start=2):
        printed, source = row["printed"], row["source"]
        if not source:
            continue
        value, place = float(row["value"]), f"report/numbers.csv: line {number}: {printed!r}"
        found = _value_of(results, source)
        if found is None or abs(found - value) > 1e-12 * abs(value):
            yield f"{place} is of {value}, {source} is {found}"
        elif not reads_as(printed, value):
            yield f"{place} is not what {value} reads as"


def without_source(results: Path) -> Iterator[str]:
    """Yield the numbers of the report that have no source.

    A number may also stand in a template, in the comment of a strategy, in a diagram, or in a text
    of the facts (a version, a name, a commit).
    """
    files = [*(ROOT / "src/strategies").glob("*.c"), *(ROOT / "report/diagrams").glob("*.svg")]
    known = {part for path in files for part in numbers_in(path.read_text(encoding="utf-8"))}
    for path in (*results.rglob("facts.json"), results / "published/beside.json"):
        texts = (leaf for leaf in _leaves(path).values() if leaf.startswith('"'))
        known.update(part for text in texts for part in numbers_in(text))
    for row in _numbers(results):
        if not row["source"] and row["printed"] not in known:
            yield f"report/report.qmd: {row['printed']} has no source"


def _numbers(results: Path) -> list[dict[str, str]]:
    with (results / "report/numbers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _value_of(results: Path, source: str) -> float | None:
    """Return what stands at a source, by its formula; None where nothing stands there."""
    name, _, rest = source.partition(": ")
    place, formula = _FORMULA.fullmatch(rest).groups()  # type: ignore[union-attr]
    leaves, words = _leaves(results / name), formula.split()
    if place.endswith(".length"):
        items, at = place.removesuffix("length"), place.count(".")
        value = float(len({leaf.split(".")[at] for leaf in leaves if leaf.startswith(items)}))
    elif place in leaves:
        value = float(leaves[place])
    else:
        return None
    for sign, other in zip(words[::2], words[1::2], strict=True):
        value = _SIGNS[sign](value, float(leaves.get(other, other)))
    return value


_SIGNS: Mapping[str, Callable[[float, float], float]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv},
    "from": lambda value, constant: constant - value,
}


@cache
def _leaves(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    return (in_json if path.suffix == ".json" else in_table)(text)


def reads_as(printed: str, value: float) -> bool:
    """Tell whether a printed number is a value rounded to its digits, in the unit behind it."""
    text = re.sub("^-", "\N{MINUS SIGN}", printed.replace("\N{NO-BREAK SPACE}", " "))
    if text.startswith("neither "):
        return value == 1.0
    if text in ("under 0.1 %", "over 99.9 %", "under 0.001"):
        limit, percent = float(numbers_in(text)[0]), 100.0 if "%" in text else 1.0
        return (abs(value) * percent < limit) == text.startswith("under")
    word = {"once": "one", "twice": "two"}.get(text, text).split()[0]
    if word in _WORDS:
        return abs(value - _WORDS.index(word)) <= 0.5
    if together := re.fullmatch(r"(\d+) (h|min) (\d+) (min|s)", text):
        large, small = int(together[1]), int(together[3])
        unit_s = 1 if together[4] == "s" else 60
        seconds = (60 * large + small) * unit_s
        return any(abs(value * scale - seconds) <= 0.5 * unit_s + 1e-9 for scale in _SCALES["s"])
    number = numbers_in(text)[0]
    digits = number.replace(",", "").replace("\N{MINUS SIGN}", "-")
    unit = text[text.index(number) + len(number) :].strip().split(" ")[0]
    # a rate of 258,412 is told with three digits; so are others without a decimal point
    zeros = 0 if "." in digits else len(digits) - len(digits.rstrip("0"))
    last = 10.0 ** (
        -len(digits.partition(".")[2]) if "." in digits else min(zeros, len(digits) - 1)
    )
    meant = [value * scale for scale in _SCALES.get(unit, (1.0, 1e-9) if value > _RATE else (1.0,))]
    if unit == "%" and not text.endswith("%"):
        meant.append(abs(value - 1.0) * 100.0)  # so much more, or less
    return any(abs(one - float(digits)) <= last * (0.5 + 1e-9) for one in meant)
