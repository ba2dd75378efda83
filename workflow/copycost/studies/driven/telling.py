"""What is said while a driven study is measured: one line per repetition."""

from collections.abc import Mapping
from typing import Any

from copycost.drivers.iperf3.derive import rates_of
from copycost.errors import CopycostError


def line_of(what: str, record: Mapping[str, Any]) -> str:
    """Return ``WHAT, repetition 1: 12.3 Gbit/s, sender 40 % CPU``, or why there is no result."""
    start = f"{what}, repetition {record['cell']['rep']}"
    if record["status"] != "measured":
        return f"{start}: {record['status']}, {record['reason']}"
    try:
        found = rates_of(record)
    except CopycostError as error:
        return f"{start}: measured, {error}"
    used = [f"{side} {found[f'{side}_cpu_percent']:.0f} %" for side in ("sender", "receiver")]
    return f"{start}: {found['bits_per_s'] / 1e9:.3g} Gbit/s, {' and '.join(used)} of a CPU"
