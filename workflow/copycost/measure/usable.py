"""What a job has measured is checked by that job, as those will that make tables of it."""

import logging
from collections.abc import Callable
from pathlib import Path

from copycost.records.aside import reason_of
from copycost.records.reading import UNUSABLE, R, Readable

_MOST_TRIES = 3

_log = logging.getLogger(__name__)


def measure_usable(
    path: Path, measure: Callable[[], R], check: Callable[[R], object], kind: Readable[R]
) -> R:
    """Write, and return, what `usable` returns."""
    record = usable(path, measure, check, kind)
    kind.kind.write(record, path)
    return record


def usable(
    path: Path, measure: Callable[[], R], check: Callable[[R], object], kind: Readable[R]
) -> R:
    """Measure until the record, which will lie at a path, can be used, a few times at most.

    `check` fails with one of `UNUSABLE` where no row can be made of it. If none can be used, the
    record is that of a failed repetition.
    """
    for _ in range(_MOST_TRIES):
        record = measure()
        try:
            check(record)
            kind.kind.text(record, path)  # a number may be none that JSON has
            return record
        except UNUSABLE as error:
            why = reason_of(error, path)
            _log.warning("what was measured cannot be used: %s", why)
    return kind.lost(path, f"{_MOST_TRIES} tries gave nothing of use: {why}", record)
