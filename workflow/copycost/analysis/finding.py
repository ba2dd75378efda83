"""A statement of an analysis: one type, whatever it is about, which texts and tables render."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from copycost.analysis.stats import ALIKE
from copycost.records.columns import THROUGHPUT

ANSWERS = ("fastest", "cheapest")
"""The questions that a decision table answers in each of its rows."""

MEAN = "mean violation"
"""The quantity by which an expectation is violated, over all its comparisons: a ratio above 1."""

NEXT_BEST = "next best"
"""The verdict on what comes closest to a baseline that is the best."""

COPIED_SHARE = 0.999
"""From this share of completions marked as copied on, the rest cannot carry a gain."""
NOT_COPIED_SHARE = 0.001
"""Up to this share, the copies cannot explain anything."""

LISTS = ("msg_bytes", "n_threads", "open_bytes")
"""The fields that hold several values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found of one thing under one condition; `FINDINGS` describes each field.

    A verdict is one of the words of its question. Sizes [bytes] and thread counts are empty for
    all. The estimate is the ratio of the subject to the reference, with its interval and `n`
    repetitions; of several ways, that of the first that is not the reference; a share where the
    quantity is one; None where nothing is to be told of the cells together. Of expectations, better
    and worse are comparisons that went with it, and against it.
    """

    question: str
    condition: str
    verdict: str
    subject: str = ""
    reference: str = ""
    reference_condition: str = ""
    quantity: str = THROUGHPUT
    is_round_trip: bool = False
    msg_bytes: tuple[int, ...] = ()
    n_threads: tuple[int, ...] = ()
    n_cells: int | None = None
    n_better: int | None = None
    n_worse: int | None = None
    below_bytes: int | None = None
    above_bytes: int | None = None
    open_bytes: tuple[int, ...] = ()
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    correction: str = "none"
    reasons: tuple["Finding", ...] = ()
    """What was measured that explains it."""

    @property
    def ways(self) -> list[str]:
        """The subjects, of which there are several where it is not known which one it is."""
        return self.subject.split(" or ")

    def reason(self, quantity: str) -> "Finding | None":
        """Return what was measured of a quantity that explains this; None where nothing was."""
        return next((one for one in self.reasons if one.quantity == quantity), None)


def read_finding(found: Mapping[str, object]) -> Finding:
    """Return a finding as `facts.json` has it: of lists and mappings."""
    known: dict[str, Any] = {field.name: found[field.name] for field in fields(Finding)}
    known |= {name: tuple(known[name]) for name in LISTS}
    return Finding(**known | {"reasons": tuple(map(read_finding, known["reasons"]))})


def of(findings: Sequence[Finding], question: str) -> list[Finding]:
    """Return the findings of a question."""
    return [one for one in findings if one.question == question]


def answers_of(decisions: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the answers of a decision table, size by size."""
    for row in decisions["rows"]:
        yield from (row[question] for question in ANSWERS if row[question])


def tally(answers: Iterable[Finding]) -> dict[str, Any]:
    """Return what answers come to, of those that compare any ways."""
    verdicts = Counter(one.verdict for one in answers if one.verdict != "alone")
    n = verdicts.total()
    return {
        "n": n,
        "n_settled": verdicts["best"],
        "n_once": verdicts["once"],
        "n_alike": verdicts["alike"],
        "n_open": n - verdicts["best"] - verdicts["alike"],
        "alike": round(ALIKE - 1.0, 12),  # by which share ways that are alike may differ
    }
