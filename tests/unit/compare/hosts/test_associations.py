import numpy as np

from copycost.compare.hosts.associations import Fact, associations
from copycost.compare.hosts.host_facts import unlike_others

RNG = np.random.default_rng(3)
KERNELS = ("6.1",) * 10 + ("6.18",) * 10


def test_a_fact_that_goes_with_an_effect_is_found_with_its_groups() -> None:
    effects = np.where(np.array(KERNELS) == "6.18", 0.4, 0.0) + 0.05 * RNG.normal(size=20)
    facts = [Fact("kernel", KERNELS), Fact("noise", tuple(RNG.normal(size=20)))]
    (found,) = associations(effects, facts)
    assert found.name == "kernel"
    assert [(value, n) for value, n, _ in found.groups] == [("6.1", 10), ("6.18", 10)]
    assert found.groups[1][2] - found.groups[0][2] > 0.3


def test_of_many_effects_hardly_one_goes_with_a_fact_by_chance() -> None:
    n_looks, n_reports = 24, 60
    caches = Fact("cache", tuple(range(12)))
    wrong = {1: 0, n_looks: 0}
    for _ in range(n_reports):
        # heavier tails than the normal distribution has
        looks = RNG.standard_t(3, size=(n_looks, 12))
        for n in wrong:
            wrong[n] += any(associations(look, [caches], n) for look in looks)
    assert wrong[1] > n_reports // 3
    assert wrong[n_looks] <= n_reports // 8


def test_a_number_is_found_with_its_direction() -> None:
    caches = tuple(float(k) for k in range(20))
    (found,) = associations(-0.02 * np.arange(20), [Fact("cache", caches)])
    assert (found.sign, found.n) == (-1, 20)


def test_few_hosts_and_lone_values_tell_nothing() -> None:
    effects = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    assert associations(effects, [Fact("kernel", ("a",) * 3 + ("b",) * 3)]) == []
    alone = tuple(f"model {k}" for k in range(20))
    assert associations(np.arange(20.0), [Fact("model", alone)]) == []


def test_what_tells_a_host_from_all_others_is_named() -> None:
    usual = {"kernel": "6.1.0", "kernel series": "Linux 6.1", "CPUs": 4, "L2 cache": None}
    hosts = [usual, usual, usual | {"kernel series": "Linux 5.4", "CPUs": 128}]
    assert unlike_others(2, hosts, [0.0, 0.1, 0.5]) == [
        "kernel series Linux 5.4", "CPUs 128", "50% of its repetitions disturbed",
    ]  # fmt: skip
    assert unlike_others(0, hosts, [0.0, 0.1, 0.5]) == []
