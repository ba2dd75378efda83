"""Caches that cannot be are refused before a guest boots."""

import copy
from typing import Any

import pytest

from copycost.config.check import check_config
from copycost.config.problems import Source, Surroundings
from copycost.config.sources import usual_tree
from copycost.errors import ConfigError

STRATEGIES = ["two_copy", "one_copy", "zero_copy", "udp_gso", "uring_send", "sendmmsg"]
CACHES = {
    "l1d": {"size_bytes": "32KiB", "ways": 8},
    "l2": {"size_bytes": "1MiB", "ways": 16},
    "llc": {"size_bytes": "1MiB", "ways": 16},
}


def check(**caches: str | int) -> None:
    """Check the default configuration with caches of other sizes."""
    raw: dict[str, Any] = usual_tree()
    raw["simulated"]["caches"] = copy.deepcopy(CACHES)
    for level, size in caches.items():
        raw["simulated"]["caches"][level]["size_bytes"] = size
    around = Surroundings(STRATEGIES, range(2), memory_bytes=8 << 30)
    check_config([Source("config.yaml", raw)], around)


def test_levels_may_be_equal() -> None:
    check()


@pytest.mark.parametrize(
    ("caches", "said"),
    [
        ({"l1d": "1MiB", "l2": "32KiB"}, "l2: got 32 KiB, must be >= 1 MiB, the size of l1d"),
        ({"l1d": "2MiB"}, "llc: got 1 MiB, must be >= 2 MiB, the size of l1d"),
        ({"llc": "512KiB"}, "llc: got 512 KiB, must be >= 1 MiB, the size of l2"),
        ({"l1d": 33000}, "l1d: got 33000 B in 8 ways, must be a multiple of 512 B"),
    ],
)
def test_a_level_that_cannot_be_is_named(caches: dict[str, str | int], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check(**caches)
    assert f"config.yaml: simulated.caches.{said}" in str(refused.value)
