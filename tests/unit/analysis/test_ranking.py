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


def rows_of(run: Run, slug: str = "veth") -> list[Facts]:
    return facts_with_floor(run)["conditions"][slug]["ranking"]["sizes"][0]["rows"]


def test_cheapest_comes_first_and_places_are_told_apart() -> None:
    run = Run(
        **ONE,
        noise=0.002,
        repetitions=5,
        log_ratio=lambda name, size, threads: {"one_copy": 0.3, "zero_copy": -0.3}.get(name, 0.0),
    )
    rows = rows_of(run)
    assert [row["implementation"] for row in rows] == ["one_copy", "two_copy", "zero_copy"]
    assert [(row["place_low"], row["place_high"]) for row in rows] == [(1, 1), (2, 2), (3, 3)]


def test_what_does_not_differ_shares_its_places() -> None:
    run = Run(**ONE, noise=0.02, repetitions=5, log_ratio=lambda name, size, threads: 0.0)
    facts = facts_with_floor(run)["conditions"]["veth"]["ranking"]["sizes"][0]
    assert {(row["place_low"], row["place_high"]) for row in facts["rows"]} == {(1, 3)}
    once = rows_of(Run(**ONE, repetitions=1))
    assert {(row["place_low"], row["place_high"]) for row in once} == {(1, 3)}


def test_a_ring_is_held_against_memory_and_the_sender_alone() -> None:
    found = facts_with_floor(Run(**ONE, udp=Udp()))
    ranking = found["conditions"]["sink_cold"]["ranking"]
    assert (ranking["side"], ranking["label"]) == ("sender", "sender CPU time")
    (floor,) = {size["floor_ns_per_byte"] for size in ranking["sizes"]}
    assert floor == pytest.approx(found["memory"]["levels"]["dram"]["ns_per_byte"], rel=0.1)
