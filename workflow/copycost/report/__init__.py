"""The report: from facts, tables and figures to a page and a paper.

This package imports nothing by itself: the workflow asks it for file names at every start.
"""

from pathlib import Path


def report_files(root: str | Path, pattern: str) -> list[str]:
    """Return the files of ``report/`` that match a pattern, sorted, as inputs of rules.

    Relative to the checkout, so that one that was moved or copied still has the same inputs.
    """
    return sorted(
        str(path.relative_to(root)) for path in Path(root, "report").glob(pattern) if path.is_file()
    )
