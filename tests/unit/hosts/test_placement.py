"""Which CPUs each side gets."""

import os

import pytest
from scenes import HOST

from copycost.errors import ConfigError
from copycost.hosts.placement import (
    Placement,
    cache_sharers_on,
    fewest_at_once,
    place,
    spread_by_core,
)


def alone(cpu: int) -> tuple[int, ...]:
    return (cpu,)


def pairs_of(n_cores: int) -> dict[int, tuple[int, ...]]:
    """Return siblings as Intel numbers them: CPU c and c + n_cores share a core."""
    return {cpu: (cpu % n_cores, cpu % n_cores + n_cores) for cpu in range(2 * n_cores)}


def test_cores_are_halved_and_siblings_stay_together() -> None:
    siblings = pairs_of(4)
    assert spread_by_core(range(8), siblings.__getitem__) == Placement(
        (0, 1, 4, 5, 2, 3, 6, 7), (2, 3, 6, 7, 0, 1, 4, 5)
    )


@pytest.mark.parametrize("n_cores", range(2, 10))
def test_both_ends_of_a_connection_are_on_different_cores(n_cores: int) -> None:
    siblings = pairs_of(n_cores)
    placement = spread_by_core(siblings, siblings.__getitem__)
    for sender, receiver in zip(placement.sender_cpus, placement.receiver_cpus, strict=True):
        assert siblings[sender] != siblings[receiver]


@pytest.mark.parametrize("n_cpus", range(2, 10))
def test_every_cpu_serves_both_sides_equally(n_cpus: int) -> None:
    placement = spread_by_core(range(n_cpus), alone)
    assert sorted(placement.sender_cpus) == list(range(n_cpus))
    assert sorted(placement.receiver_cpus) == list(range(n_cpus))


def test_two_cpus_change_places_from_connection_to_connection() -> None:
    assert spread_by_core([4, 6], alone) == Placement((4, 6), (6, 4))


def test_one_core_is_divided_by_its_hardware_threads() -> None:
    assert spread_by_core([0, 1], lambda _: (0, 1)) == Placement((0, 1), (1, 0))


def test_one_cpu_serves_both() -> None:
    assert spread_by_core([3], alone) == Placement((3,), (3,))


def test_only_allowed_cpus_are_used() -> None:
    siblings = pairs_of(4)
    assert spread_by_core([1, 5, 7], siblings.__getitem__) == Placement((1, 5, 7), (7, 1, 5))


@pytest.mark.parametrize(
    ("cpus", "n_threads", "expected"),
    [
        ((0, 1, 2, 3), 1, 1),
        ((0, 1, 2, 3), 4, 4),
        ((0, 1, 2, 3), 64, 4),  # a CPU runs one of its threads at a time
        ((0, 0), 8, 1),
        ((0, 4, 1, 5), 4, 2),
        ((0, 1, 4), 8, 1),  # the second cache has but one CPU in use
    ],
)
def test_threads_at_once_are_counted_by_cache(
    cpus: tuple[int, ...], n_threads: int, expected: int
) -> None:
    caches = {cpu: (0, 1, 2, 3) if cpu < 4 else (4, 5, 6, 7) for cpu in range(8)}
    assert fewest_at_once(cpus, n_threads, caches.__getitem__) == expected


def test_the_caches_of_this_host_are_read_or_nothing_is_said() -> None:
    cpu = min(os.sched_getaffinity(0))
    sharers = cache_sharers_on(HOST)
    assert cpu in (sharers(cpu) or (cpu,))
    assert sharers(99999) == ()


def test_lists_of_the_config_are_taken_as_they_are() -> None:
    cpu = min(os.sched_getaffinity(0))
    assert place(HOST, (cpu, cpu), (cpu,)) == Placement((cpu, cpu), (cpu,))


def test_auto_beside_a_list_stays_automatic() -> None:
    cpu = min(os.sched_getaffinity(0))
    assert place(HOST, (cpu,), None).receiver_cpus == place(HOST, None, None).receiver_cpus


def test_a_cpu_that_is_not_allowed_is_named() -> None:
    with pytest.raises(ConfigError, match=r"measure\.cpus\.receiver: got CPU 99999, must be one"):
        place(HOST, None, (99999,))
