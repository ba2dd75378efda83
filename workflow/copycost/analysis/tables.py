"""Reading and writing the derived tables."""

from pathlib import Path

import pandas as pd

_TEXT = (
    "study", "condition", "testbed", "working_set", "receiver", "implementation", "baseline",
    "metric", "verdict",
)  # fmt: skip


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, numbers in full so that reading gives the same table back."""
    table.to_csv(path, index=False, lineterminator="\n")


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote; ``null`` is a name (of an implementation), not a gap."""
    columns = pd.read_csv(path, nrows=0).columns
    text = [name for name in columns if name in _TEXT]
    gaps = {name: [""] for name in columns if name not in text}
    return pd.read_csv(
        path, dtype=dict.fromkeys(text, "str"), keep_default_na=False, na_values=gaps
    )
