"""What two ways to send really cost: lines, bends, steps, and the costs of a real run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.stats.settings import FloatArray
from copycost.config.checkout import ROOT

MEASURED = pd.read_csv(ROOT / "docs" / "measured_costs.csv")
"""See the package."""

STREAM_SIZES = tuple(256 * 4**step for step in range(7))
DATAGRAM_SIZES = (2048, 16384, 49152, 65507)

_PAGE = 4096
_SEGMENT = 65536
_L1 = 32768
_L2 = 1048576

Cost = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Truth:
    """A comparison along the sizes [bytes] whose true log ratios are known; above 0 is better."""

    name: str
    sizes: tuple[int, ...]
    log_ratios: tuple[float, ...]

    @property
    def signs(self) -> dict[int, int]:
        """Return the true sign at each size."""
        return {
            size: int(np.sign(np.round(value, 12)))
            for size, value in zip(self.sizes, self.log_ratios, strict=True)
        }


def line(fixed: float, per_byte: float) -> Cost:
    """Return a cost per message of two terms."""
    return lambda size: fixed + per_byte * size


def bent(fixed: float, in_l1: float, in_l2: float, beyond: float) -> Cost:
    """Return a cost whose bytes get more expensive where a message and its copy fill a cache."""

    def cost(size: FloatArray) -> FloatArray:
        first, second = _L1 / 2, _L2 / 2
        return (
            fixed
            + in_l1 * np.minimum(size, first)
            + in_l2 * np.clip(size - first, 0.0, second - first)
            + beyond * np.maximum(size - second, 0.0)
        )

    return cost


def stepped(fixed: float, per_byte: float, per_step: float, step: int) -> Cost:
    """Return a cost with a price for every page or segment that a message begins."""
    return lambda size: fixed + per_byte * size + per_step * np.ceil(size / step)


def measured(condition: str, implementation: str, n_threads: int = 1) -> Cost:
    """Return what a real run measured, straight between its sizes."""
    rows = MEASURED[
        (MEASURED["condition"] == condition)
        & (MEASURED["implementation"] == implementation)
        & (MEASURED["n_threads"] == n_threads)
    ]
    return lambda size: np.interp(size, rows["msg_bytes"], rows["ns_per_message"])


NEARLY_EQUAL = "lines, 1 to 2 % apart"

CURVES: dict[str, tuple[Cost, Cost]] = {
    "lines": (line(1000, 0.10), line(1600, 0.07)),
    "lines, up to a size": (line(1600, 0.07), line(1000, 0.10)),
    NEARLY_EQUAL: (line(1000, 0.100), line(1020, 0.099)),
    "bends at L1 and L2": (bent(1000, 0.04, 0.09, 0.15), bent(1500, 0.04, 0.06, 0.06)),
    "steps at pages": (line(800, 0.08), stepped(1500, 0.01, 180, _PAGE)),
    "steps at segments": (line(900, 0.060), stepped(1000, 0.030, 1200, _SEGMENT)),
    "better everywhere": (line(1000, 0.10), line(900, 0.09)),
    "no difference": (line(1000, 0.10), line(1000, 0.10)),
    "measured: veth, one_copy": (measured("veth", "two_copy"), measured("veth", "one_copy")),
    "measured: veth, zero_copy": (measured("veth", "two_copy"), measured("veth", "zero_copy")),
    "measured: sink, zero_copy": (measured("sink", "two_copy"), measured("sink", "zero_copy")),
    "measured: sink cold, zero_copy": (
        measured("sink_cold", "two_copy"),
        measured("sink_cold", "zero_copy"),
    ),
}
"""The costs of the baseline and of what it is compared with, each over the size [bytes]."""


def truth(name: str, sizes: Sequence[int]) -> Truth:
    """Return the truth of a pair of curves on a grid of sizes."""
    at = np.array(sizes, dtype=np.float64)
    baseline, other = CURVES[name]
    return Truth(name, tuple(sizes), tuple(np.log(baseline(at) / other(at))))


def with_added_sizes(found: Truth) -> Truth:
    """Return the same on a grid with sizes a factor of 1.4 apart where it changes sign."""
    signs = found.signs
    added: set[int] = set()
    for low, high in zip(found.sizes, found.sizes[1:], strict=False):
        if signs[low] != signs[high]:
            n_steps = round(2 * np.log2(high / low))
            added |= {round(low * (high / low) ** (k / n_steps)) for k in range(1, n_steps)}
    return truth(found.name, sorted({*found.sizes, *added}))


def truths() -> Iterator[Truth]:
    """Yield every pair of curves on its grid, and where it changes sign with sizes added."""
    for name in CURVES:
        sizes = DATAGRAM_SIZES if "sink" in name else STREAM_SIZES
        plain = truth(name, sizes)
        yield plain
        added = with_added_sizes(plain)
        if added.sizes != plain.sizes:
            yield added
