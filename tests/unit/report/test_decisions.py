"""The decision tables in words: each kind of answer, each sentence around them."""

from typing import Any

import pytest
from golden.sentences import check_branches, environment, sentences

from copycost.report.decisions import (
    decided_conditions,
    decision_columns,
    decision_rows,
    tally,
)
from copycost.report.decisions_text import WIDTH, decision_lines, wrapped

RATIO = {"implementation": "one_copy", "value": 1.21, "low": 1.15, "high": 1.284}
ONCE = RATIO | {"low": None, "high": None}
CONFIDENCE = 0.95


def answer(told: str, *ways: str, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"told": told, "ways": list(ways), "settled": False, "ratio": RATIO} | changed


SETTLED = answer("best", "one_copy", settled=True)
BASELINE = answer("best", "two_copy", settled=True, ratio=None)
ANSWERS = {
    "settled": SETTLED,
    "settled, the baseline": BASELINE,
    "likely": answer("best", "one_copy"),
    "open": answer("open", "one_copy", "zero_copy"),
    "open, three": answer("open", "two_copy", "one_copy", "zero_copy"),
    "open, many": answer("open", "a", "b", "c", "d", "e"),
    "alike": answer("alike", "one_copy", "two_copy"),
    "once": answer("once", "one_copy", ratio=ONCE),
    "alone": answer("alone", "two_copy", ratio=None),
    "too wide": answer("open", "one_copy", "two_copy", ratio=RATIO | {"low": 0.1, "high": 9.0}),
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


def test_each_kind_of_answer_has_its_words() -> None:
    texts = {
        name: " | ".join(decision_rows(condition(row(found)))[0][1:3])
        for name, found in ANSWERS.items()
    }
    check_branches("decisions_answers", texts)


def test_row_has_size_threads_and_price() -> None:
    alone = row(n_threads=[1], price={"low": 0.5, "high": 0.5})
    without = row(cheapest=None, price=None, missing=["zero_copy"])
    found = [
        [cell.replace("\u00a0", " ") for cell in one]
        for one in decision_rows(condition(row(), alone, without))
    ]
    assert [one[0] for one in found] == ["64 KiB", "64 KiB, 1 thread", "64 KiB, no `zero_copy`"]
    assert [one[5] for one in found] == ["0.25 to 0.29", "0.50", "---"]
    assert found[2][3:5] == ["---", "---"]


def test_round_trips_have_their_own_unit() -> None:
    trips = condition(row(price={"low": 37_400.0, "high": 37_400.0}), is_trip=True)
    assert [column.title for column in decision_columns(trips)][2::3] == ["Median time", "µs"]
    assert decision_rows(trips)[0][5] == "37"


SCENES = {
    "TCP": condition(),
    "TCP, offloads off": condition(testbed="veth_no_offload"),
    "loopback": condition(testbed="loopback"),
    "UDP": condition(testbed="veth_udp", transport="datagram"),
    "UDP over loopback": condition(testbed="loopback_udp", transport="datagram"),
    "nobody receives": condition(testbed="sink", transport="datagram", sender_only=True),
    "another testbed": condition(testbed="wire", path="two hosts and their network cards"),
    "another testbed, UDP": condition(
        testbed="wire_udp", path="two hosts and their network cards", transport="datagram"
    ),
    "guests": condition(testbed="vm_pair", path="two guests", guests=2),
    "emulated guests": condition(testbed="vm_pair", path="two guests", guests=2, emulated=True),
    "emulated guests, UDP": condition(
        testbed="vm_pair_udp", path="two guests", guests=2, emulated=True, transport="datagram"
    ),
    **{
        f"over the wire, {whose}": condition(
            testbed="wire", path="two hosts and their network cards",
            decisions=condition()["decisions"] | {"cpu_of": whose},
        )
        for whose in ("machines", "processes")
    },
    "over the wire, nobody receives": condition(
        testbed="wire_sink", path="two hosts and their network cards", transport="datagram",
        sender_only=True, decisions=condition()["decisions"] | {"cpu_of": "processes"},
    ),
    "no testbed": condition(testbed="theirs", path=None),
    "round trips": condition(is_trip=True),
    "from memory": condition(
        working_set="cold", quantities={"ring_per_llc": 4.0, "ring_bytes": 1 << 27}
    ),
    "from a ring": condition(
        working_set="16777216", quantities={"ring_per_llc": 0.5, "ring_bytes": 1 << 24}
    ),
    "another receiver": condition(receiver="mmap"),
    "on one CPU": condition(placement="same"),
    "placed by the scheduler": condition(placement="free"),
    "one thread": condition(
        decisions=condition()["decisions"] | {"n_threads": [1], "rows": [row(n_threads=[1])]}
    ),
    "copied": condition(row(answer("open", "one_copy", "zero_copy"))),
    "not measured": condition(grid={"implementations": ["two_copy", "one_copy", "write_v"]}),
}  # fmt: skip


def test_each_kind_of_condition_has_its_sentence() -> None:
    texts = {name: sentences("decisions_words", "scene", one) for name, one in SCENES.items()}
    check_branches("decisions_scenes", texts)


SINK = {
    "slug": "sink", "implementation": "zero_copy", "baseline": "two_copy", "msg_bytes": 65507,
    "n_threads": 2, "n_cells": 8, "sender_only": True, "value": 0.42, "low": 0.41, "high": 0.43,
}  # fmt: skip
VETH = SINK | {"slug": "veth", "msg_bytes": 65536, "sender_only": False, "value": 1.47,
               "low": 1.31, "high": 1.66}  # fmt: skip


def card(
    *bounds: dict[str, Any],
    measured: tuple[str, ...] = (),
    wires: tuple[str, ...] = (),
    **more: object,
) -> str:
    facts = {"measured": [*measured, *wires], "wires": list(wires), "bounds": list(bounds)}
    facts |= {"copied": [], "virtual": [], "sent": None} | more  # type: ignore[dict-item]
    return sentences("decisions_words", "network_card", facts, CONFIDENCE)


def limits(held: int = 0, **link: object) -> str:
    found = {"slug": "wire", "link": {"believed": True, "n_points": 8} | link, "limit": None}
    udp = {"slug": "wire_udp", "link": None, "limit": {"n_points": 4, "n_full": held}}
    conditions = [found, udp, {"slug": "wire_in", "link": None, "limit": None}]
    return sentences("decisions_words", "link", {"conditions": conditions})


def tallied(*found: dict[str, Any]) -> str:
    counts = tally([condition(*(row(one, cheapest=one) for one in found))])
    return sentences("decisions_words", "tallied", counts, CONFIDENCE)


def guests_ratio(value: float, low: float, high: float) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "n": 3, "contradict": False}


OPPOSED = guests_ratio(1.1, 0.9, 1.3) | {
    "contradict": True, "n_cells": 8, "n_above": 0, "n_below": 3,
    "halves": [{"axis": "n_threads", "sign": 1}],
}  # fmt: skip


def in_guests(**changed: object) -> str:
    compared: dict[str, Any] = {
        "slug": "vm_pair", "without": "veth", "emulated": False,
        "throughput": guests_ratio(0.21, 0.19, 0.23), "outside": guests_ratio(4.1, 3.7, 4.5),
    }  # fmt: skip
    return sentences("decisions_words", "guests", {"compared": [compared | changed]}, CONFIDENCE)


def undisturbed(n_disturbed: int) -> str:
    facts = {
        "n_measured": 1055, "n_disturbed": n_disturbed, "warnings": {"steal": n_disturbed},
        "n_cells": 132, "n_clean": 54,
    }  # fmt: skip
    return sentences("decisions_words", "undisturbed", facts)


def control(quantity: str = "throughput", **changed: object) -> str:
    came_to = {"value": 1.0021, "low": 0.99532, "high": 1.0093, "sign": 0, "once": False,
               "n_tested": 28, "n_apart": 1}  # fmt: skip
    facts = {"implementations": ["two_copy"], "chance": 0.05, quantity: came_to | changed}
    return sentences("decisions_words", "control", facts, CONFIDENCE, quantity)


def test_each_sentence_around_the_tables() -> None:
    names = ("two_copy", "one_copy", "zero_copy", "mine")
    once = ANSWERS["once"]
    counts = tally([condition(row(once, cheapest=once))])
    texts = {f"way {one}": sentences("decisions_words", "way", one, "it sends.") for one in names}
    texts |= {
        "how to read": sentences("decisions_words", "how_to_read", "two_copy", CONFIDENCE),
        "how to read, several baselines": sentences(
            "decisions_words", "how_to_read", None, CONFIDENCE
        ),
        "tallied": tallied(SETTLED, ANSWERS["open"]),
        "tallied, one settled": sentences(
            "decisions_words", "tallied",
            {"n": 2, "n_settled": 1, "n_once": 0, "n_alike": 1, "n_open": 0, "alike": 0.05},
            CONFIDENCE,
        ),
        "tallied, once": sentences("decisions_words", "tallied", counts, CONFIDENCE),
        "tallied, nothing compared": tallied(ANSWERS["alone"]),
        "in guests": in_guests(emulated=True),
        "in guests, outside not counted": in_guests(outside=None),
        "in guests, cells contradict": in_guests(
            throughput=OPPOSED | {"n_above": 2}, outside=OPPOSED | {"n_above": 2}
        ),
        "in guests, halves contradict": in_guests(throughput=OPPOSED, outside=OPPOSED),
        "a card, measured": card(measured=("theirs",)),
        "a card, over the wire": card(wires=("wire", "wire_in")),
        "a link that limits": limits(n_full=7),
        "a link that limits nothing": limits(n_full=0),
        "a limit that UDP kept to": limits(n_full=0, held=3),
        "a link whose speed is not believed": limits(n_full=7, believed=False),
        "a card, its sender over the wire": card(sent=SINK | {"slug": "wire_sink-lab2"}),
        "a card that copies": card(VETH, copied=["wire-lab2", "wire_in-lab2"]),
        "a card, a virtual device": card(VETH, virtual=["wire-lab2"]),
        "a card, bounds": card(SINK, VETH),
        "a card, nobody receives": card(SINK),
        "a card, copied": card(VETH),
        "a card, no zero-copy": card(),
        "emulated guests": sentences(
            "decisions_words", "emulated", [condition(), condition(emulated=True)]
        ),
        "no emulated guests": sentences("decisions_words", "emulated", [condition()]),
        "disturbed": undisturbed(63),
        "one disturbed": undisturbed(1),
        "undisturbed": undisturbed(0),
        "the control": control(),
        "the control, biased": control(low=1.0005, sign=1, n_apart=12),
        "the control, once": control(sign=1, once=True, n_tested=0),
        "the control, of round trips": control("round_trip"),
        "no control": sentences("decisions_words", "control", None, CONFIDENCE),
    }  # fmt: skip
    check_branches("decisions", texts)


def test_round_trips_of_one_way_have_a_table_only_where_there_is_no_other() -> None:
    alone = ANSWERS["alone"]
    two, lone = (
        {**condition(row(one, cheapest=one)), "slug": slug, "n_measured": 3}
        for slug, one in (("veth", ANSWERS["open"]), ("loopback", alone))
    )
    trips = {"conditions": [two, lone]}
    facts = {"conditions": {"veth": two}, "measured_conditions": ["veth"], "round_trips": trips}
    told = [(one["slug"], one["is_trip"]) for one in decided_conditions(facts)]
    assert told == [("veth", False), ("veth", True)]
    facts = {"conditions": {}, "measured_conditions": [], "round_trips": {"conditions": [lone]}}
    assert [one["slug"] for one in decided_conditions(facts)] == ["loopback"]


def test_alone_a_way_without_a_summary_is_not_told() -> None:
    assert sentences("decisions_words", "way", "mine", None) == ""


@pytest.mark.parametrize("scene", SCENES.values(), ids=list(SCENES))
def test_text_fits_a_terminal_and_has_no_markup(scene: dict[str, Any]) -> None:
    words: Any = environment().get_template("_macros/decisions_words.j2").module
    price = {"low": 37_400.0, "high": 41_000.0} if scene["is_trip"] else {"low": 0.03, "high": 2.9}
    rows = [row(found, cheapest=found, price=price) for found in ANSWERS.values() if found]
    lines = list(decision_lines(scene, rows, words.scene(scene)))
    assert max(map(len, lines)) <= WIDTH
    assert not any("\\" in line or "\u00a0" in line for line in lines)


def test_text_has_two_lines_for_each_row() -> None:
    lines = list(decision_lines(condition(), [row()], "It is TCP."))
    assert lines == [
        "It is TCP.",
        "                                                   times two_copy          CPUs",
        "64 KiB    fastest  one_copy                   1.21 (1.15 to 1.28)",
        "          cheapest two_copy                                     1  0.25 to 0.29",
    ]


def test_wrapped_text_keeps_a_number_and_its_unit_together() -> None:
    text = "x" * 76 + " 64\u00a0KiB **bold** \\* `a`."
    assert wrapped(text) == ["x" * 76, "64 KiB bold * `a`."]
