"""The decision tables in words: each kind of answer, by size and in brief, as page and terminal."""

from dataclasses import asdict, replace
from typing import Any

import pytest
from golden.sentences import environment

from copycost.analysis.finding import Finding, tally
from copycost.report.decisions import (
    answer_sentence,
    brief_table,
    decided_conditions,
    in_brief,
    table,
)
from copycost.report.decisions_command import WIDTH, decision_lines

ESTIMATE = {"estimate": 1.21, "low": 1.15, "high": 1.284}


def answer(verdict: str, *ways: str, **estimate: float | None) -> Finding:
    return Finding(question="fastest", condition="veth", verdict=verdict,
                   subject=" or ".join(ways), **(estimate or ESTIMATE))  # fmt: skip


ONE = answer("best", "one_copy")
TWO = answer("best", "two_copy", estimate=None)
OPEN = answer("open", "one_copy", "zero_copy")
# of each kind, what the table says
TOLD = {
    ONE: ["`one_copy`", "1.21 (1.15 to 1.28)"],
    TWO: ["`two_copy`", "1"],
    answer("unsure", "one_copy"): ["likely `one_copy`", "1.21 (1.15 to 1.28)"],
    OPEN: [r"`one_copy` or `zero_copy`\*", "1.21 (1.15 to 1.28)"],
    answer("open", "a", "b", "c", "d", "e"): ["`a`, `b` or others", "1.21 (1.15 to 1.28)"],
    answer("alike", "a", "b"): ["`a` or `b`, alike", "1.21 (1.15 to 1.28)"],
    answer("once", "one_copy", estimate=1.21): ["`one_copy`, seen once", "1.21"],
    answer("alone", "two_copy", estimate=None): ["only `two_copy`", "1"],
    answer("open", "a", "b", estimate=1.21, low=0.1, high=9.0): ["`a` or `b`", "too wide"],
    None: ["---", "---"],
}


def row(fastest: Finding | None = ONE, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    found = {"msg_bytes": 65536, "n_threads": [1, 2], "missing": [], "fastest": fastest,
             "cheapest": TWO, "price": {"low": 0.251, "high": 0.29}}  # fmt: skip
    return found | changed


def condition(*rows: dict[str, Any], **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    found = {
        "is_trip": False, "slug": "veth", "testbed": "veth", "path": "a veth pair",
        "transport": "stream", "working_set": "hot", "receiver": "recv", "placement": "apart",
        "sender_only": False, "guests": 0, "emulated": False,
        "labels": {"one_copy": None, "zero_copy": "zero-copy requested, 100 % copied"},
        "quantities": {"ring_per_llc": None, "ring_bytes": None},
        "grid": {"implementations": ["two_copy", "one_copy"]},
        "decisions": {
            "baseline": "two_copy",
            "ways": ["two_copy", "one_copy"],
            "n_threads": [1, 2],
            "rows": list(rows) or [row()],
        },
    }  # fmt: skip
    return found | changed


def test_each_kind_of_answer_has_its_words_and_a_row_size_threads_and_price() -> None:
    for found, words in TOLD.items():
        assert table(condition(row(found)))[1][0][1:3] == words
    alone = row(n_threads=[1], price={"low": 0.5, "high": 0.5})
    without = row(cheapest=None, price=None, missing=["zero_copy"])
    found = table(condition(row(), alone, without))[1]
    names = [one[0].replace("\u00a0", " ") for one in found]
    assert names == ["64 KiB", "64 KiB, 1 thread", "64 KiB, no `zero_copy`"]
    assert [one[5] for one in found] == ["0.25 to 0.29", "0.50", "---"]
    assert found[2][3:5] == ["---", "---"]
    trips = condition(row(price={"low": 37_400.0, "high": 37_400.0}), is_trip=True)
    titles, rows = table(trips)
    assert titles[2::3] == [">Median time", ">µs"]
    assert rows[0][5] == "37"


def test_round_trips_of_one_way_have_a_table_only_where_there_is_no_other() -> None:
    def stored(slug: str, finding: Finding) -> dict[str, Any]:
        found = condition(row(asdict(finding), cheapest=asdict(finding)), slug=slug, n_measured=3)
        found["decisions"]["by_threads"] = []
        return found

    two, lone = stored("veth", OPEN), stored("loopback", answer("alone", "two_copy"))
    trips = {"conditions": [two, lone]}
    facts = {"conditions": {"veth": two}, "measured_conditions": ["veth"], "round_trips": trips}
    told = [(one["slug"], one["is_trip"]) for one in decided_conditions(facts)]
    assert told == [("veth", False), ("veth", True)]
    facts = {"conditions": {}, "measured_conditions": [], "round_trips": {"conditions": [lone]}}
    assert [one["slug"] for one in decided_conditions(facts)] == ["loopback"]


@pytest.mark.parametrize(
    "scene",
    [
        condition(),
        condition(testbed="vm_pair_udp", path="two guests", guests=2, emulated=True,
                  transport="datagram"),
        condition(testbed="wire_sink", path="two hosts and their network cards", sender_only=True,
                  transport="datagram",
                  decisions=condition()["decisions"] | {"cpu_of": "processes"}),
        condition(working_set="16777216", receiver="mmap", placement="free",
                  quantities={"ring_per_llc": 0.5, "ring_bytes": 1 << 24}),
        condition(is_trip=True),
    ],
    ids=["TCP", "guests", "wire", "from a ring", "round trips"],
)  # fmt: skip
def test_text_fits_a_terminal_and_has_no_markup(scene: dict[str, Any]) -> None:
    words: Any = environment().get_template("_macros/decisions_words.j2").module
    price = {"low": 37_400.0, "high": 41_000.0} if scene["is_trip"] else {"low": 0.03, "high": 2.9}
    rows = [row(found, cheapest=found, price=price) for found in TOLD if found]
    lines = list(decision_lines(scene, rows, words.scene(scene)))
    assert max(map(len, lines)) <= WIDTH
    assert not any("\\" in line or "\u00a0" in line for line in lines)


def over_sizes(*fastest: Finding, **changed: object) -> dict[str, Any]:
    """Return a condition with answers at 1 KiB, 2 KiB and so on, of speed alone."""
    rows = [
        row(replace(one, msg_bytes=(1024 << n,)), msg_bytes=1024 << n, cheapest=None)
        for n, one in enumerate(fastest)
    ]
    found = condition(*rows, labels={}, **changed)
    found["decisions"]["answers"] = tally(fastest)
    return found


FAR = answer("best", "one_copy", estimate=1.9)
TURNS = over_sizes(TWO, TWO, OPEN, ONE, FAR)


@pytest.mark.parametrize(
    ("fastest", "said"),
    [
        ((TWO, TWO, OPEN, ONE, FAR),
         "two_copy up to 2 KiB; one_copy from 8 KiB (1.90 times two_copy at 16 KiB)"),
        ((OPEN, OPEN), "open"),
        ((ONE, ONE), "one_copy at every size (1.21 times two_copy at 1 KiB)"),
        ((TWO, OPEN, TWO), "two_copy at 1 KiB and at 4 KiB"),
        ((answer("unsure", "one_copy"), TWO), "likely one_copy at 1 KiB; two_copy at 2 KiB"),
    ],
)  # fmt: skip
def test_what_neighbouring_sizes_have_alike_is_told_once_and_what_is_open_is_left_out(
    fastest: tuple[Finding, ...], said: str
) -> None:
    line = next(in_brief(over_sizes(*fastest))).replace("\u00a0", " ")
    assert line == f"Fastest: {said}"


def test_a_sentence_names_what_is_settled_and_a_row_counts_what_is_open() -> None:
    said = answer_sentence(TURNS).replace("\u00a0", " ")
    assert said == (
        "On `veth`, the fastest is `two_copy` up to 2 KiB and `one_copy` from 8 KiB (1.90 times "
        "the speed of `two_copy` at 16 KiB)."
    ), "nothing of CPU time, which was not counted"
    trips = TURNS | {"is_trip": True}
    assert "times the median time of `two_copy`" in answer_sentence(trips)
    (found,) = brief_table([trips])[1]
    told = [found[place] for place in (0, 3, -1)]
    assert told == ["`veth`, round trips", "not measured", "1 of 5"]
    likely = answer_sentence(over_sizes(TWO, answer("unsure", "two_copy"), TWO))
    assert "fastest is `two_copy` at 1 KiB and at 4 KiB" in likely.replace("\u00a0", " ")
    assert answer_sentence(over_sizes(OPEN)) == "On `veth`, it is open which way is the fastest."
    assert answer_sentence(over_sizes(answer("alone", "two_copy"))) == ""
