"""The decision tables in words: each kind of answer, in the report and in a terminal."""

from dataclasses import asdict
from typing import Any

import pytest
from golden.sentences import environment

from copycost.analysis.finding import Finding
from copycost.report.decisions import decided_conditions, table
from copycost.report.decisions_command import WIDTH, decision_lines

ESTIMATE = {"estimate": 1.21, "low": 1.15, "high": 1.284}


def answer(verdict: str, *ways: str, **estimate: float | None) -> Finding:
    return Finding(question="fastest", condition="veth", verdict=verdict,
                   subject=" or ".join(ways), **(estimate or ESTIMATE))  # fmt: skip


SETTLED = answer("best", "one_copy")
BASELINE = answer("best", "two_copy", estimate=None)
ANSWERS = {
    "settled": SETTLED,
    "settled, the baseline": BASELINE,
    "likely": answer("unsure", "one_copy"),
    "open": answer("open", "one_copy", "zero_copy"),
    "open, many": answer("open", "a", "b", "c", "d", "e"),
    "alike": answer("alike", "one_copy", "two_copy"),
    "once": answer("once", "one_copy", estimate=1.21),
    "alone": answer("alone", "two_copy", estimate=None),
    "too wide": answer("open", "one_copy", "two_copy", estimate=1.21, low=0.1, high=9.0),
    "not measured": None,
}


def row(fastest: object = SETTLED, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    found = {
        "msg_bytes": 65536,
        "n_threads": [1, 2],
        "missing": [],
        "fastest": fastest,
        "cheapest": BASELINE,
        "price": {"low": 0.251, "high": 0.29},
    }
    return found | changed


def condition(*rows: dict[str, Any], **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    found = {
        "is_trip": False,
        "slug": "veth",
        "testbed": "veth",
        "path": "a veth pair",
        "transport": "stream",
        "working_set": "hot",
        "receiver": "recv",
        "placement": "apart",
        "sender_only": False,
        "guests": 0,
        "emulated": False,
        "labels": {"one_copy": None, "zero_copy": "zero-copy requested, 100 % copied"},
        "quantities": {"ring_per_llc": None, "ring_bytes": None},
        "grid": {"implementations": ["two_copy", "one_copy"]},
        "decisions": {
            "baseline": "two_copy",
            "ways": ["two_copy", "one_copy"],
            "n_threads": [1, 2],
            "rows": list(rows) or [row()],
        },
    }
    return found | changed


TOLD = {
    "settled": ["`one_copy`", "1.21 (1.15 to 1.28)"],
    "settled, the baseline": ["`two_copy`", "1"],
    "likely": ["likely `one_copy`", "1.21 (1.15 to 1.28)"],
    "open": [r"`one_copy` or `zero_copy`\*", "1.21 (1.15 to 1.28)"],
    "open, many": ["`a`, `b` or others", "1.21 (1.15 to 1.28)"],
    "alike": ["`one_copy` or `two_copy`, alike", "1.21 (1.15 to 1.28)"],
    "once": ["`one_copy`, seen once", "1.21"],
    "alone": ["only `two_copy`", "1"],
    "too wide": ["`one_copy` or `two_copy`", "too wide"],
    "not measured": ["---", "---"],
}


def test_each_kind_of_answer_has_its_words() -> None:
    assert {name: table(condition(row(ANSWERS[name])))[1][0][1:3] for name in ANSWERS} == TOLD


def test_row_has_size_threads_and_price() -> None:
    alone = row(n_threads=[1], price={"low": 0.5, "high": 0.5})
    without = row(cheapest=None, price=None, missing=["zero_copy"])
    found = [
        [cell.replace("\u00a0", " ") for cell in one]
        for one in table(condition(row(), alone, without))[1]
    ]
    assert [one[0] for one in found] == ["64 KiB", "64 KiB, 1 thread", "64 KiB, no `zero_copy`"]
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

    two, lone = stored("veth", ANSWERS["open"]), stored("loopback", ANSWERS["alone"])
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
    rows = [row(found, cheapest=found, price=price) for found in ANSWERS.values() if found]
    lines = list(decision_lines(scene, rows, words.scene(scene)))
    assert max(map(len, lines)) <= WIDTH
    assert not any("\\" in line or "\u00a0" in line for line in lines)
