"""Whether bytes, time, messages and throughput of the same row agree."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.plausibility.finding import (
    Finding,
    Kind,
    Sample,
    Sureness,
    cell_names,
    plain_number,
)
from copycost.audit.quantities import SIZE, THREADS

_TOLERANCE = 0.02
"""Rounding, and bytes still under way at the end of the run."""

_UNDER_WAY_BYTES = 16 << 20
"""Per connection: what socket buffers may hold when the run ends, sent but not yet received."""

_FACTORS = {
    8.0: "bits were taken for bytes",
    1000.0: "a prefix (k, M, G) is wrong",
    1e6: "two prefixes are wrong",
    1e9: "three prefixes are wrong",
    1.024: "1024 was taken for 1000",
    1.048576: "2^20 was taken for 10^6",
    1.073741824: "2^30 was taken for 10^9",
    2.0: "both directions, or both sides, were added up",
}


def check_consistency(sample: Sample) -> list[Finding]:
    """Return what disagrees by more than two percent."""
    findings: list[Finding] = []
    rows = sample.known("bytes", "duration", "throughput")
    if not rows.empty:
        told = rows["bytes"] * 8.0 / rows["duration"]
        findings += _compare(
            sample, rows, rows["throughput"] / told, ("throughput", "bytes", "duration"),
            "throughput", "bytes x 8 / duration",
        )  # fmt: skip
    rows = sample.known("bytes", "messages")
    if not rows.empty:
        findings += _compare(
            sample, rows, rows["bytes"] / (rows["messages"] * rows[SIZE]), ("bytes", "messages"),
            "the bytes", "messages x size", _UNDER_WAY_BYTES * rows[THREADS] / rows["bytes"],
        )  # fmt: skip
    rows = sample.known("cycles", "bytes", "cycles_per_byte")
    if not rows.empty:
        findings += _compare(
            sample, rows, rows["cycles_per_byte"] * rows["bytes"] / rows["cycles"],
            ("cycles_per_byte", "cycles", "bytes"), "cycles per byte", "cycles / bytes",
        )  # fmt: skip
    return findings


def _compare(
    sample: Sample,
    rows: pd.DataFrame,
    quotient: pd.Series,
    quantities: tuple[str, ...],
    left: str,
    right: str,
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
    cause = _cause(typical) if alike else ""
    yield Finding(
        check="consistency",
        kind=Kind.CONTRADICTION,
        sureness=Sureness.CERTAIN,
        dataset=sample.name,
        quantities=quantities,
        found=(
            f"In {int(off.sum())} of {len(rows)} rows {left} and {right} differ by more than 2 % "
            f"(typically by a factor of {plain_number(typical)})."
        ),
        why=f"They are the same thing, so at least one is wrong{cause}.",
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


def _cause(factor: float) -> str:
    for known, words in _FACTORS.items():
        for value in (known, 1.0 / known):
            if abs(factor / value - 1.0) < 0.005:
                return f"; perhaps {words}"
    return ""
