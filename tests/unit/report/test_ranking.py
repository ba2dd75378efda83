"""The chapter on all ways: what is said of the cheapest, and each of its sentences."""

from typing import Any

from golden.sentences import check_branches, sentences

from copycost.report.ranking import has_floor, ranked, ranking_ends


def row(name: str, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"implementation": name, "median": 0.19, "n": 3, "floor_ratio": None} | changed


def condition(*rows: dict[str, Any], winners: int = 1, **floor: Any) -> dict[str, Any]:  # noqa: ANN401
    at = {"msg_bytes": 65536, "floor_level": None, "floor_bytes": None, "floor_ns_per_byte": None}
    at |= {"winners": [one["implementation"] for one in rows[:winners]], "rows": rows}
    ranking = {"n_threads": 1, "unit": "ns", "side": "both", "sizes": [at | floor]}
    ways = [f"way_{n}" for n in range(13)]
    return {"ranking": ranking, "grid": {"implementations": ways}}


WAYS = [row(f"way_{n}") for n in range(8)]
COPY = {"floor_level": "l2", "floor_bytes": 131072, "floor_ns_per_byte": 0.02}
BRANCHES = {
    "alone": condition(WAYS[0]),
    "times a copy in a cache": condition(row("two_copy", floor_ratio=9.52), **COPY),
    "times a copy, caches unknown": condition(
        row("two_copy", floor_ratio=9.52), **(COPY | {"floor_level": None})
    ),
    "all once": condition(row("a", n=1), row("b", n=1)),
    "best once": condition(row("a", n=1), row("b")),
    "no other costs more": condition(*WAYS[:2], winners=2),
    "all cost more": condition(*WAYS[:2]),
    "one not shown": condition(*WAYS[:3], winners=2),
    "two not shown": condition(*WAYS, winners=3),
    "many not shown": condition(*WAYS, winners=6),
}


def test_each_verdict_has_its_sentence() -> None:
    texts = {}
    for name, facts in BRANCHES.items():
        (end,) = ranking_ends(facts)
        texts[name] = sentences("every_way_words", "cheapest", end, facts["ranking"])
    check_branches("every_way", texts)


def test_the_smallest_and_the_largest_size_are_told() -> None:
    facts = condition(WAYS[0])
    (at,) = facts["ranking"]["sizes"]
    facts["ranking"]["sizes"] = [at | {"msg_bytes": size} for size in (64, 1024, 65536)]
    assert [end["msg_bytes"] for end in ranking_ends(facts)] == [64, 65536]


def test_conditions_without_a_cost_are_not_ranked() -> None:
    known, unknown = condition(WAYS[0]), condition(WAYS[0])
    unknown["ranking"]["side"] = None
    few = known | {"grid": {"implementations": ["two_copy", "one_copy"]}}
    assert ranked([known, unknown, known | {"ranking": None}, condition(), few]) == [known]
    assert not has_floor(known)
    assert has_floor(condition(WAYS[0], **COPY))
