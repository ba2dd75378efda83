"""What a zero-copy send is called once the kernel has said whether it copied after all.

One definition of the words, for figures, tables and text: zero-copy asked for and zero-copy done
are two things, and a line, a row or a sentence that names the first must not read as the second.
"""

import pandas as pd

from copycost.wording.numbers import format_percent

COPIED_SHARE = "zc_copied_share"
"""The metric of the summary that tells, where a sender asked for zero copy."""


def copied_label(low: float, high: float) -> str | None:
    """Return what a zero-copy send is called, of which a share from `low` to `high` was copied.

    Returns
    -------
    str or None
        ``zero-copy requested, 100 % copied``; None where nothing was copied.
    """
    if not high > 0.0:
        return None
    first, last = format_percent(low), format_percent(high)
    share = last if first == last else f"{first} to {last}"
    return f"zero-copy requested, {share} copied"


def copied_labels(summary: pd.DataFrame) -> dict[str, str]:
    """Return, by implementation, the label of those whose zero-copy sends were copied.

    Parameters
    ----------
    summary
        The rows of one condition.
    """
    shares = summary[(summary["metric"] == COPIED_SHARE) & (summary["n"] > 0)]
    labels = {}
    for name, rows in shares.groupby("implementation", sort=False):
        label = copied_label(float(rows["median"].min()), float(rows["median"].max()))
        if label is not None:
            labels[str(name)] = label
    return labels
