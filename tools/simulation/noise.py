"""How single rounds scatter around the truth."""

from collections.abc import Callable

import numpy as np

from copycost.analysis.stats.settings import FloatArray

Noise = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]

_AUTOCORRELATION = 0.6
_DIP_SHARE = 0.15


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return rng.normal(size=shape)


def _heavy_tails(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return np.asarray(rng.standard_t(3, size=shape) / np.sqrt(3.0))


def _two_modes(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw from two modes as likely as each other, eight of their own widths apart."""
    return 0.97 * rng.choice([-1.0, 1.0], size=shape) + 0.24 * rng.normal(size=shape)


def _dips(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw quiet rounds of which one in seven dips by six of their widths.

    The mean is 0: what the dips cost is part of what an implementation is like.
    """
    dips = rng.random(shape) < _DIP_SHARE
    return 0.4 * rng.normal(size=shape) - 2.5 * (dips - _DIP_SHARE)


def _drifting(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw rounds that take after the one before, at both sides of a ratio differently."""
    fresh = rng.normal(size=shape)
    rounds = fresh.copy()
    for k in range(1, shape[-1]):
        kept = _AUTOCORRELATION * rounds[..., k - 1]
        rounds[..., k] = kept + np.sqrt(1.0 - _AUTOCORRELATION**2) * fresh[..., k]
    return rounds


NOISES: dict[str, Noise] = {
    "normal": _normal,
    "heavy tails (t3)": _heavy_tails,
    "two modes of one side": _two_modes,
    "dips of one side": _dips,
    "drift (AR 0.6)": _drifting,
}
"""Standard deviation 1 and mean 0; the last axis is that of the rounds."""

DRIFT = "drift (AR 0.6)"
"""The one whose rounds are not independent, which every interval here takes them to be."""

INDEPENDENT = tuple(name for name in NOISES if name != DRIFT)
"""Those whose rounds are independent of each other, which is what tests take them for."""

_OF_ONE_SIDE = ("two modes of one side", "dips of one side")
_QUIET = 0.25
"""Spread of the other side of a ratio then, beside which the one side's shape shows in full."""


def log_ratio_noise(name: str, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Return the noise of log ratios whose sides have a standard deviation of 1.

    Modes and dips are those of one side only, since of both they would partly cancel.
    """
    one = NOISES[name](rng, shape)
    if name in _OF_ONE_SIDE:
        return one - _QUIET * _normal(rng, shape)
    return one - NOISES[name](rng, shape)
