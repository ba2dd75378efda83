"""Which CPUs each side gets."""

from collections.abc import Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import cast

import pytest
from setups import HOST

from copycost.errors import ConfigError
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.local import LocalHost
from copycost.hosts.placement import (
    Placement,
    cache_sharers_on,
    fewest_at_once,
    place,
    spread_by_core,
)

Cpus = tuple[int, ...]


def pairs_of(n_cores: int) -> dict[int, Cpus]:
    """Return siblings as Intel numbers them: CPU c and c + n_cores share a core."""
    return {cpu: (cpu % n_cores, cpu % n_cores + n_cores) for cpu in range(2 * n_cores)}


@pytest.mark.parametrize(
    ("allowed", "cores", "sender", "receiver"),
    [
        (range(8), pairs_of(4), (0, 1, 4, 5, 2, 3, 6, 7), (2, 3, 6, 7, 0, 1, 4, 5)),
        ([1, 5, 7], pairs_of(4), (1, 5, 7), (7, 1, 5)),
        ([4, 6], {4: (4,), 6: (6,)}, (4, 6), (6, 4)),
        ([0, 1], pairs_of(1), (0, 1), (1, 0)),  # one core is divided by its hardware threads
        ([3], {3: (3,)}, (3,), (3,)),
    ],
)
def test_cores_are_halved_and_siblings_stay_together(
    allowed: Sequence[int], cores: dict[int, Cpus], sender: Cpus, receiver: Cpus
) -> None:
    assert spread_by_core(allowed, cores.__getitem__) == Placement(sender, receiver)


def test_ends_are_on_different_cores_and_every_cpu_serves_both_sides() -> None:
    siblings = pairs_of(5)
    for n_cpus in range(1, 11):
        for allowed in combinations(siblings, n_cpus):
            placed = spread_by_core(allowed, siblings.__getitem__)
            assert sorted(placed.sender_cpus) == sorted(placed.receiver_cpus) == [*allowed]
            ends = zip(placed.sender_cpus, placed.receiver_cpus, strict=True)
            if n_cpus > 3:  # else one of two cores may have more CPUs than the other
                assert all(siblings[sender] != siblings[receiver] for sender, receiver in ends)


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
def test_threads_at_once_are_counted_by_cache(cpus: Cpus, n_threads: int, expected: int) -> None:
    caches = {cpu: (0, 1, 2, 3) if cpu < 4 else (4, 5, 6, 7) for cpu in range(8)}
    assert fewest_at_once(Placement(cpus, (0,)), n_threads, caches.__getitem__) == expected
    # where nothing is pinned, a cache may have but one
    assert fewest_at_once(Placement(cpus, (0,), False), n_threads, caches.__getitem__) == 1
    assert cache_sharers_on(HOST)(99999) == ()


_SIBLINGS = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


class Machine(LocalHost):
    """A host with such CPUs, core by core."""

    def __init__(self, cores: Sequence[Cpus]) -> None:
        super().__init__()
        self._cores = cores
        lists = {_SIBLINGS.format(cpu): [*core] for core in cores for cpu in core}
        self.files = cast("HostFiles", SimpleNamespace(cpu_lists=lambda _: lists))

    def usable_cpus(self) -> set[int]:
        return {cpu for core in self._cores for cpu in core}


FOUR_CORES = Machine([(0, 4), (1, 5), (2, 6), (3, 7)])


def test_apart_beside_a_list_the_other_side_has_the_other_cores() -> None:
    assert place(FOUR_CORES, "apart", (3, 3), (3,)) == Placement((3, 3), (3,))
    assert place(FOUR_CORES, "apart", (0, 1), None) == Placement((0, 1), (2, 3, 6, 7))
    assert place(FOUR_CORES, "apart", None, (7,)) == Placement((0, 1, 2, 4, 5, 6), (7,))
    placement = place(FOUR_CORES, "apart", (0, 1, 2, 3), None)  # no other is left
    assert placement.receiver_cpus == place(FOUR_CORES, "apart", None, None).receiver_cpus


def test_on_one_cpu_connections_take_every_core_once_or_those_of_both_lists() -> None:
    paired = Machine([(0, 1), (2, 3)])
    assert place(paired, "same", None, None) == Placement((0, 2, 1, 3), (0, 2, 1, 3))
    assert place(FOUR_CORES, "same", (5, 3, 1), (1, 3)) == Placement((5, 3, 1), (5, 3, 1))
    assert place(FOUR_CORES, "same", (5, 3), None) == Placement((5, 3), (5, 3))


def test_free_threads_may_be_anywhere_or_where_the_lists_say() -> None:
    every = tuple(range(8))
    assert place(FOUR_CORES, "free", None, None) == Placement(every, every, pinned=False)
    placement = place(FOUR_CORES, "free", (1,), None)
    assert placement == Placement((1,), every, pinned=False)
    assert (placement.mask("sender"), placement.mask("receiver")) == ({1}, set(every))
    assert place(FOUR_CORES, "apart", None, None).mask("sender") is None


def test_a_cpu_that_is_not_allowed_is_named() -> None:
    with pytest.raises(ConfigError, match=r"measure\.cpus\.receiver: got CPU 99999, must be one"):
        place(HOST, "apart", None, (99999,))
