"""Whether bytes, time, messages and throughput of the same row agree."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import SIZE, THREADS
from copycost.audit.wording import cell_names

_TOLERANCE = 0.02
"""Rounding, and bytes still under way at the end of the run."""

_UNDER_WAY_BYTES = 16 << 20
"""Per connection: what socket buffers may hold when the run ends, sent but not yet received."""

_CAUSES = {
    8.0: "bits",
    1000.0: "prefix",
    1e6: "two_prefixes",
    1e9: "three_prefixes",
    1.024: "kibi",
    1.048576: "mebi",
    1.073741824: "gibi",
    2.0: "both",
}
"""What a factor between two columns that should agree tells of their units."""


def check_consistency(sample: Sample) -> list[Finding]:
    """Return what disagrees by more than two percent."""
    findings: list[Finding] = []
    rows = sample.known("bytes", "duration", "throughput")
    if not rows.empty:
        told = rows["bytes"] * 8.0 / rows["duration"]
        findings += _compare(
            sample, rows, rows["throughput"] / told, ("throughput", "bytes", "duration"),
            "throughput_disagrees",
        )  # fmt: skip
    rows = sample.known("bytes", "messages")
    if not rows.empty:
        findings += _compare(
            sample, rows, rows["bytes"] / (rows["messages"] * rows[SIZE]), ("bytes", "messages"),
            "bytes_disagree", _UNDER_WAY_BYTES * rows[THREADS] / rows["bytes"],
        )  # fmt: skip
    rows = sample.known("cycles", "bytes", "cycles_per_byte")
    if not rows.empty:
        findings += _compare(
            sample, rows, rows["cycles_per_byte"] * rows["bytes"] / rows["cycles"],
            ("cycles_per_byte", "cycles", "bytes"), "cycles_per_byte_disagree",
        )  # fmt: skip
    return findings


def _compare(
    sample: Sample,
    rows: pd.DataFrame,
    quotient: pd.Series,
    quantities: tuple[str, ...],
    code: str,
    allowance: pd.Series | float = 0.0,
) -> Iterator[Finding]:
    off = (quotient - 1.0).abs() > _tolerance(sample, rows, quantities) + allowance
    off &= np.isfinite(quotient)
    # What is under way at the end of a short run weighs more there.
    if off.mean() < 0.05 and (quotient[off] - 1.0).abs().max() < 0.2:
        return
    if not off.any():
        return
    typical = float(quotient[off].median())
    alike = bool(((quotient[off] / typical - 1.0).abs() < _TOLERANCE).all())
    yield Finding(
        check="consistency",
        code=code,
        kind=Kind.CONTRADICTION,
        sureness=Sureness.CERTAIN,
        dataset=sample.name,
        quantities=quantities,
        numbers={
            "n_rows": int(off.sum()),
            "of_rows": len(rows),
            "factor": typical,
            "cause": _cause(typical) if alike else None,
        },
        cells=cell_names(rows[off]),
    )


def _tolerance(sample: Sample, rows: pd.DataFrame, quantities: tuple[str, ...]) -> pd.Series:
    """Return what rounding may make of each row, and two percent; durations are set, so exact."""
    allowed = pd.Series(_TOLERANCE, index=rows.index)
    for name in quantities:
        if name == "duration":
            continue
        step = pd.Series(sample.resolution(name), index=sample.table.index)[rows.index]
        allowed = allowed + 0.5 * step / rows[name].abs()
    return allowed


def _cause(factor: float) -> str | None:
    for known, cause in _CAUSES.items():
        for value in (known, 1.0 / known):
            if abs(factor / value - 1.0) < 0.005:
                return cause
    return None
