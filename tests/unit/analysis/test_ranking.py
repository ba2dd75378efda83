"""Places, which of them are told apart, and the memory floor beside them."""

import dataclasses

import pytest
from analysed import inputs_of
from synthetic import Run, Udp
from synthetic.surroundings import make_memory

from copycost.analysis.json_values import Facts
from copycost.studies.streams.facts import compute_facts

ONE = {"msg_bytes": (65536,), "n_threads": (1, 2)}


def facts_with_floor(run: Run) -> Facts:
    return compute_facts(dataclasses.replace(inputs_of(run), memory=make_memory()))


@pytest.mark.parametrize(
    ("logs", "repetitions", "places"),
    [
        ({"one_copy": 0.3, "zero_copy": -0.3}, 5, [(1, 1), (2, 2), (3, 3)]),
        ({}, 5, [(1, 3)] * 3),
        ({"one_copy": 0.3, "zero_copy": -0.3}, 1, [(1, 3)] * 3),
    ],
)
def test_cheapest_comes_first_and_what_is_not_shown_to_differ_shares_its_places(
    logs: dict[str, float], repetitions: int, places: list[tuple[int, int]]
) -> None:
    run = Run(**ONE, noise=0.005, repetitions=repetitions,
              log_ratio=lambda name, size, threads: logs.get(name, 0.0))  # fmt: skip
    rows = facts_with_floor(run)["conditions"]["veth"]["ranking"]["sizes"][0]["rows"]
    assert [(row["place_low"], row["place_high"]) for row in rows] == places
    names = [row["implementation"] for row in rows]
    assert not logs or names == ["one_copy", "two_copy", "zero_copy"]


def test_a_ring_is_held_against_memory_and_the_sender_alone() -> None:
    found = facts_with_floor(Run(**ONE, udp=Udp()))
    ranking = found["conditions"]["sink_cold"]["ranking"]
    assert (ranking["side"], ranking["label"]) == ("sender", "sender CPU time")
    (floor,) = {size["floor_ns_per_byte"] for size in ranking["sizes"]}
    assert floor == pytest.approx(found["memory"]["levels"]["dram"]["ns_per_byte"], rel=0.1)
