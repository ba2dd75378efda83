"""From texts to numbers: units behind them, decimal commas, thousands, words for a gap."""

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from reprlib import repr as shown
from typing import Literal

import numpy as np
import pandas as pd

from copycost.audit.quantities import Quantity, unit_factor
from copycost.errors import DataError
from copycost.stats.settings import FloatArray

_GAPS = frozenset({
    "", "-", "--", "---", "n/a", "na", "nan", "none", "null", "?", "x", ".", "\N{EN DASH}",
    "\N{EM DASH}", "not supported", "<not supported>", "not counted", "<not counted>",
    "not measured", "missing", "n.a.", "unknown", "skipped", "failed",
})  # fmt: skip
_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<digits>\d[\d.,'_\s\u00a0\u202f]*|[.,]\d+)(?P<exponent>e[-+]?\d{1,9})?"
    r"\s*(?P<unit>[A-Za-zµμ%][A-Za-zµμ%/]*)?",
    re.IGNORECASE,
)
SMALLEST, LARGEST = 1e-30, 1e30
"""In SI units, beyond what anybody measures, and far from where floats overflow."""

_MOST_DIGITS = 17
"""What a float can tell."""

_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
_DOTTED = re.compile(r"\d{1,3}(\.\d{3})+")


def is_gap(text: str) -> bool:
    """Tell whether a cell says that there is no value."""
    return text.strip().lower() in _GAPS


def decimal_commas(columns: Mapping[str, Iterable[str]], delimiter: str) -> frozenset[str]:
    """Return the columns in whose numbers commas are decimal ones, rather than between thousands.

    A comma that no three digits follow is decimal; two commas, or a comma before a point, part
    thousands. A column where every comma could be either follows the surer ones; without any,
    commas are decimal where semicolons or tabs part the columns, as spreadsheets of countries
    with decimal commas write.
    """
    signs = {name: _comma_sign(texts) for name, texts in columns.items()}
    if "decimal" in signs.values():
        otherwise = True
    else:
        otherwise = delimiter in (";", "\t") and "point" not in signs.values()
    return frozenset(
        name
        for name, sign in signs.items()
        if sign == "decimal" or (sign == "either" and otherwise)
    )


def _comma_sign(texts: Iterable[str]) -> Literal["decimal", "point", "either", "none"]:
    """Return what a column's numbers tell: decimal commas, decimal points, or neither for sure."""
    sign: Literal["either", "none"] = "none"
    for text in texts:
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            continue
        digits = match["digits"]
        comma, point = digits.rfind(","), digits.rfind(".")
        if comma >= 0 and (comma > point >= 0 or not _THOUSANDS.fullmatch(digits)):
            return "decimal" if comma > point else "point"
        if point >= 0 and (comma >= 0 or not _DOTTED.fullmatch(digits)):
            return "point"
        if digits.count(",") > 1:
            return "point"
        if comma >= 0:
            sign = "either"
    return sign


def parse_column(
    texts: pd.Series, quantity: Quantity, unit: str | None, *, commas: bool, where: str
) -> tuple[FloatArray, FloatArray]:
    """Return a column's numbers, and the smallest step that the digits of each tell.

    Both are in SI units, NaN where the file has none. `texts`: by the number of their line. `unit`:
    the column's unit; a unit behind a value counts more. None takes the quantity's own. `commas`:
    whether 12,5 is twelve and a half. `where`: name of file and column, for messages.
    """
    factor = unit_factor(quantity.kind, quantity.unit if unit is None else unit)
    if factor is None:
        raise DataError(f"{where}: unit {unit!r} is not one of {quantity.words}; name it in a "
                        "mapping")  # fmt: skip
    values, steps = np.full((2, len(texts)), math.nan)
    for index, (line, text) in enumerate(texts.items()):
        if is_gap(text):
            continue
        match = _NUMBER.fullmatch(text.strip())
        own = None
        if match is not None:
            own = factor if match["unit"] is None else unit_factor(quantity.kind, match["unit"])
        if match is None or own is None:
            raise DataError(
                f"{where}, line {line}: {shown(text)} is no {quantity.words}; expected a "
                "number, or an empty cell where there is no value"
            )
        digits = re.sub(r"['_\s\u00a0\u202f]", "", match["digits"])
        digits = digits.replace(".", "").replace(",", ".") if commas else digits.replace(",", "")
        if digits.count(".") > 1:  # 1.234.567
            digits = digits.replace(".", "")
        exponent = int(match["exponent"][1:]) if match["exponent"] else 0
        power = exponent - len(digits.partition(".")[2])  # of the last digit
        value = float(f"{match['sign']}{digits}e{exponent}") * own
        is_zero = not re.search("[1-9]", match["digits"])
        if not is_zero and not SMALLEST <= abs(value) <= LARGEST:
            raise DataError(
                f"{where}, line {line}: {shown(text)} is no {quantity.words} that anybody "
                f"measures; expected 0, or from {SMALLEST:g} to {LARGEST:g} in SI units: correct "
                "it, or leave the cell empty"
            )
        # the weight of the last digit that is written and that a float can tell
        largest = math.floor(math.log10(abs(value))) if value else 0
        step = max(10.0 ** min(power, 30) * own, 10.0 ** (largest + 1 - _MOST_DIGITS))
        values[index], steps[index] = value, step
    return values, steps


_SCALES = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
"""A count of seconds since 1970 has ten digits; longer ones count milliseconds and less."""

_MOST_CHARACTERS = 40


def parse_instants(texts: Iterable[str], unit: str | None) -> FloatArray:
    """Return moments in seconds since some moment, NaN where a text tells none.

    `texts`: numbers, or dates with times of day (ISO 8601; UTC where no zone is told). `unit`: what
    numbers count; None takes it from their size.
    """
    factor = unit_factor("instant", unit) if unit else None
    return np.array([_instant(text.strip(), factor) for text in texts], dtype=np.float64)


def _instant(text: str, factor: float | None) -> float:
    if is_gap(text) or len(text) > _MOST_CHARACTERS:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(text.replace("/", "-"))
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        return math.nan
    if not math.isfinite(value) or abs(value) > 1e30:
        return math.nan
    if factor is None:
        factor = next((scale for least, scale in _SCALES if abs(value) >= least), 1.0)
    return value * factor
