"""The answer in brief: what neighbouring sizes have alike is told once, what is open is counted."""

from dataclasses import replace
from typing import Any

from copycost.analysis.finding import Finding, tally
from copycost.report.decisions import answer_sentence, brief_table, in_brief


def told(verdict: str, *ways: str, value: float = 1.2) -> Finding:
    estimate = None if ways[0] == "two_copy" else value
    return Finding(question="fastest", condition="veth", verdict=verdict,
                   subject=" or ".join(ways), estimate=estimate)  # fmt: skip


def condition(*fastest: Finding, **changed: object) -> dict[str, Any]:
    rows = [
        {
            "msg_bytes": 1024 << place,
            "n_threads": [1, 2],
            "fastest": replace(one, msg_bytes=(1024 << place,)),
            "cheapest": None,
        }
        for place, one in enumerate(fastest)
    ]
    decisions = {
        "baseline": "two_copy",
        "n_threads": [1, 2],
        "rows": rows,
        "answers": tally(fastest),
    }
    found = {"slug": "veth", "is_trip": False, "labels": {}, "decisions": decisions}
    return found | changed


TWO, ONE = told("best", "two_copy"), told("best", "one_copy")
OPEN = told("open", "one_copy", "two_copy")
FAR = told("best", "one_copy", value=1.9)
TURNS = condition(TWO, TWO, OPEN, ONE, FAR)


def brief(found: dict[str, Any]) -> str:
    return next(in_brief(found)).removeprefix("Fastest: ").replace("\u00a0", " ")


def test_what_neighbouring_sizes_have_alike_is_told_once_and_what_is_open_is_left_out() -> None:
    assert brief(TURNS) == (
        "two_copy up to 2 KiB; one_copy from 8 KiB (1.90 times two_copy at 16 KiB)"
    )
    assert brief_table([TURNS])[1][0][-1] == "1 of 5"
    assert brief(condition(OPEN, OPEN)) == "open"
    assert brief(condition(ONE, ONE)) == "one_copy at every size (1.20 times two_copy at 1 KiB)"
    assert brief(condition(TWO, OPEN, TWO, ONE)).startswith(
        "two_copy at 1 KiB; two_copy at 4 KiB; one_copy at 8 KiB"
    )
    likely = told("unsure", "one_copy")
    assert brief(condition(likely, likely, TWO)).startswith("likely one_copy up to 2 KiB; two_copy")


def test_sizes_whose_thread_counts_differ_are_told_as_such() -> None:
    found = condition(TWO, ONE)
    found["decisions"]["rows"][1]["msg_bytes"] = 1024
    assert brief(found).startswith("another way with other thread counts at every size")


def test_a_sentence_names_what_is_settled() -> None:
    said = answer_sentence(TURNS).replace("\u00a0", " ")
    assert said == (
        "On `veth`, the fastest is `two_copy` up to 2 KiB and `one_copy` from 8 KiB (1.90 times "
        "the speed of `two_copy` at 16 KiB)."
    ), "nothing of CPU time, which was not counted"
    trips = TURNS | {"is_trip": True}
    assert "1.90 times the median time of `two_copy`" in answer_sentence(trips).replace(
        "\u00a0", " "
    )
    (row,) = brief_table([trips])[1]
    assert (row[0], row[3]) == ("`veth`, round trips", "not measured")
    assert answer_sentence(condition(OPEN)) == "On `veth`, it is open which way is the fastest."
    alone = condition(told("alone", "two_copy"))
    assert answer_sentence(alone) == ""
    assert brief_table([alone])[1][0][1] == "only `two_copy` at every size"
