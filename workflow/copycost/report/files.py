"""The files of the report's folder, as inputs of the rules that use them."""

from pathlib import Path


def report_files(root: str | Path, pattern: str) -> list[str]:
    """Return the files of ``report/`` that match a pattern, relative to the checkout and sorted.

    Relative, so that a checkout that was moved or copied still has the same inputs.
    """
    return sorted(
        str(path.relative_to(root)) for path in Path(root, "report").glob(pattern) if path.is_file()
    )
