"""What was not measured, and why: skipped and failed repetitions by reason."""

from typing import Any

import pandas as pd

from copycost.analysis.plain import Facts


def missing_facts(rows: pd.DataFrame, status: str, remedy: str | None) -> list[Facts]:
    """Return the skipped or failed repetitions of a testbed, gathered by their reason.

    Parameters
    ----------
    rows
        Rows of the cells table, of one testbed.
    status
        ``skipped`` or ``failed``.
    remedy
        What the host facts say would help; None where they know nothing.
    """
    lost = rows[rows["status"] == status]
    facts: list[Facts] = []
    for reason, part in lost.groupby(lost["reason"].fillna("no reason recorded"), sort=True):
        facts.append(
            {
                "reason": str(reason),
                "remedy": remedy,
                "n": len(part),
                "implementations": sorted(set(part["implementation"])),
                "msg_bytes": sorted({int(value) for value in part["msg_bytes"]}),
                "n_threads": sorted({int(value) for value in part["n_threads"]}),
            }
        )
    return sorted(facts, key=lambda fact: (-fact["n"], fact["reason"]))


def remedy_for(testbed: str, host: dict[str, Any]) -> str | None:
    """Return the host facts' advice for a testbed that does not work here."""
    remedy = host.get("testbeds", {}).get(testbed, {}).get("remedy")
    return None if remedy is None else str(remedy)
