"""What was not measured, and why: skipped and failed repetitions by reason."""

import pandas as pd

from copycost.analysis.json_values import Facts


def missing_facts(rows: pd.DataFrame, status: str) -> list[Facts]:
    """Return the skipped or failed repetitions of a condition, gathered by their reason.

    Parameters
    ----------
    rows
        Rows of the cells table, of one condition.
    status
        ``skipped`` or ``failed``.

    Returns
    -------
    list
        Most frequent reason first: reason, remedy (None where none is known), n (repetitions),
        implementations, msg_bytes, n_threads.
    """
    lost = rows[rows["status"] == status]
    facts: list[Facts] = []
    for reason, part in lost.groupby(lost["reason"].fillna("no reason recorded"), sort=True):
        facts.append(
            {
                "reason": str(reason),
                "remedy": _first(part["remedy"]),
                "n": len(part),
                "implementations": sorted(set(part["implementation"])),
                "msg_bytes": sorted({int(value) for value in part["msg_bytes"]}),
                "n_threads": sorted({int(value) for value in part["n_threads"]}),
            }
        )
    return sorted(facts, key=lambda fact: (-fact["n"], fact["reason"]))


def why_lost(rows: pd.DataFrame) -> Facts:
    """Return reason and remedy (None where none is known) of rows of which some gave no value."""
    (most_frequent, *_) = missing_facts(rows, "skipped") + missing_facts(rows, "failed")
    return {key: most_frequent[key] for key in ("reason", "remedy")}


def _first(column: pd.Series) -> str | None:
    known = [str(value) for value in column.dropna() if str(value)]
    return known[0] if known else None
