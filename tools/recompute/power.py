"""How often a wrong number would be found: each that agrees is changed, and checked again."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tools.recompute.document import NUMBER, Sentence, Table
from tools.recompute.slots import WORDS
from tools.recompute.text import Checker

_CHANGE = 1.07
_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def shares_found(checker: Checker) -> dict[str, tuple[int, int]]:
    """Return, for sentences and for tables, how many changed numbers were found, of how many."""
    found: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for part in checker.parts:
        kind = "tables" if isinstance(part, Table) else "sentences"
        for other in changed(checker, part):
            tried[kind] += 1
            found[kind] += any(one.verdict == "differs" for one in checker.check(other))
    return {kind: (found[kind], tried[kind]) for kind in tried}


def changed(checker: Checker, part: Sentence | Table) -> Iterator[Sentence | Table]:
    """Yield a part once for each of its numbers that agree, with that number changed."""
    if isinstance(part, Table):
        for row in part.rows:
            table = replace(part, rows=[row])
            for one in checker.check_table(table):
                if one.verdict == "agrees":
                    for text in _changed_texts(one.text):
                        cells = [*row[: one.start], text, *row[one.start + 1 :]]
                        yield replace(part, rows=[cells])
        return
    for one in checker.check(part):
        if one.verdict == "agrees":
            end = one.start + len(one.text)
            for text in _changed_texts(one.text):
                yield replace(part, text=part.text[: one.start] + text + part.text[end:])


def _changed_texts(text: str) -> Iterator[str]:
    for match in [*NUMBER.finditer(text), *_WORD.finditer(text)]:
        yield text[: match.start()] + other_number(match[0]) + text[match.end() :]


def other_number(text: str) -> str:
    """Return another number: 7 % more, at least one of its last place; a word's next word."""
    if text.lower() in WORDS:
        return {**dict(itertools.pairwise(WORDS)), WORDS[-1]: "13"}[text.lower()]
    decimals = len(text.partition(".")[2])
    value = float(text.replace(",", "").replace("\u2212", "-"))
    step = 10.0**-decimals
    more = max(round(value * _CHANGE / step), round(value / step) + 1) * step
    return f"{more:,.{decimals}f}" if "," in text else f"{more:.{decimals}f}"
