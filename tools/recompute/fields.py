"""The fields of a report's tables: whether each shows what it should."""

import math
import re
from collections.abc import Mapping

from tools.recompute.estimates import Estimate
from tools.recompute.run import Run
from tools.recompute.slots import agrees, ends_agree, is_vague

Field = bool | None
"""Whether a field is right; None where that is not known."""
Row = Mapping[str, str]
Checked = Mapping[str, Field]


def way_of(row: Row) -> str:
    """Return the way to send that a row is about."""
    return str(re.findall(r"`(\w+)`", row["Implementation"])[0])


def shows(text: str, expected: float) -> bool:
    """Tell whether a field shows a value; one that there is not is shown as a dash."""
    return text == "---" if math.isnan(expected) else agrees("x", text, expected)


def span(text: str, expected: Estimate, unit: float, run: Run) -> Field:
    """Tell whether a field shows an interval; one that says little is called too wide."""
    if math.isnan(expected.low):
        return not re.search(r"\d", text)
    if "too" in text:
        return is_vague(expected, run.settings.resampling)
    return ends_agree(text, expected.over(unit), run.settings.resampling)
