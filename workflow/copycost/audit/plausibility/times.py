"""What the time stamps of a table say: runs that overlap, end before they start, or repeat."""

from collections.abc import Iterator

import numpy as np

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.wording import cell_names

_SLACK = 0.02
"""Share of a run by which stamps may be off."""


def check_times(sample: Sample) -> Iterator[Finding]:
    """Yield what the time stamps say against runs one after the other."""
    start = sample.times["start"].to_numpy(dtype=np.float64)
    end = sample.times["end"].to_numpy(dtype=np.float64)
    if not np.isfinite(start).any():
        start = end - _durations(sample)
    backwards = end < start
    if backwards.any():
        yield _finding(sample, backwards, Kind.IMPOSSIBLE, Sureness.CERTAIN, "times_backwards")
        return
    known = np.isfinite(start)
    if known.sum() < 2 or len(np.unique(start[known])) == 1:
        return  # One stamp for all is the date of the file.
    order = np.flatnonzero(known)[np.argsort(start[known], kind="stable")]
    sorted_starts = start[order]
    step = float(np.min(np.diff(np.unique(sorted_starts))))
    repeated = np.zeros(len(start), dtype=bool)
    same = np.flatnonzero(np.diff(sorted_starts) == 0.0)
    repeated[order[same]] = repeated[order[same + 1]] = True
    if repeated.any():
        yield _finding(sample, repeated, Kind.ODD, Sureness.VERY_LIKELY, "times_repeat")
    ends = np.where(np.isfinite(end), end, start + _durations(sample))[order]
    granularity = 1.0 if np.all(sorted_starts == np.floor(sorted_starts)) else min(step, 1e-3)
    allowed = granularity + _SLACK * np.nan_to_num(ends[:-1] - sorted_starts[:-1])
    latest = np.fmax.accumulate(np.where(np.isfinite(ends), ends, -np.inf))[:-1]
    overlapping = np.zeros(len(start), dtype=bool)
    overlapping[order[1:]] = latest - sorted_starts[1:] > allowed
    overlapping &= ~repeated
    if overlapping.any():
        yield _finding(sample, overlapping, Kind.ODD, Sureness.VERY_LIKELY, "times_overlap")


def _durations(sample: Sample) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if "duration" not in sample.table:
        return np.full(len(sample.table), np.nan)
    return sample.table["duration"].to_numpy(dtype=np.float64)


def _finding(
    sample: Sample,
    rows: np.ndarray[tuple[int], np.dtype[np.bool_]],
    kind: Kind,
    sureness: Sureness,
    code: str,
) -> Finding:
    return Finding(
        "times", code, kind, sureness, sample.name, (),
        {"n_rows": int(rows.sum()), "of_rows": len(rows)},
        cell_names(sample.table[rows]),
    )  # fmt: skip
