"""The chapter on round trips: what is compared, and each of its sentences."""

from typing import Any

from golden.sentences import check_branches, sentences

from copycost.report.round_trips import (
    round_trips_compared,
    round_trips_lost,
    round_trips_told,
)

LOSS = {"n": 1, "reason": "no namespaces", "remedy": None}


def ratio(sign: int = 1, *, msg_bytes: int = 4096, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    row = {"implementation": "zero_copy", "percentile": "p50_ns", "msg_bytes": msg_bytes}
    row |= {"n_threads": 1, "value": 1.35, "low": 1.34, "high": 1.36, "sign": sign, "once": False}
    return row | changed


def condition(*ratios: dict[str, Any], **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    facts = {
        "slug": "veth",
        "emulated": False,
        "implementations": ["two_copy", "one_copy", "zero_copy"],
        "ratios": list(ratios),
        "n_threads": [1],
        "in_turns": False,
        "n_compared": len(ratios),
        "n_sure": 0,
        "n_warned": 0,
        "n_measured": 9,
        "skipped": [],
        "failed": [],
    }
    return facts | changed


def trips(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"conditions": list(conditions)}


VERDICTS = {
    "nothing compared": trips(condition()),
    "observed once": trips(condition(ratio(once=True, low=None, high=None))),
    "some differ": trips(condition(ratio(), ratio(0, msg_bytes=64), ratio(-1), n_sure=1)),
    "disturbed": trips(condition(ratio(0), n_warned=2)),
}
CONTROLS = {
    name: {
        "implementations": ["two_copy"],
        "round_trip": {"value": 1.002, "low": 0.99, "high": 1.01, "once": once},
    }
    for name, once in (("control", False), ("control once", True))
}


def test_each_outcome_has_its_sentence() -> None:
    texts = {
        name: sentences("round_trips_words", "verdict", round_trips_told(found), "two_copy")
        for name, found in VERDICTS.items()
    }
    texts |= {
        name: sentences("round_trips_words", "control", found, 0.95)
        for name, found in CONTROLS.items()
    }
    check_branches("round_trips", texts)


def test_a_row_has_a_ratio_per_size_and_what_differs_is_bold() -> None:
    found = condition(
        ratio(),
        ratio(0, msg_bytes=64),
        ratio(percentile="p999_ns"),
        ratio(implementation="one_copy", percentile="p99_ns"),
    )
    columns, rows = round_trips_compared(trips(found))
    assert [column.title for column in columns[4:]] == [
        "64\N{NO-BREAK SPACE}B",
        "4\N{NO-BREAK SPACE}KiB",
    ]
    assert [row[1:4] for row in rows] == [
        ["`one_copy`", "1", "99th"], ["`zero_copy`", "1", "median"],
    ]  # fmt: skip
    assert rows[0][4] == ""
    assert rows[1][5].startswith("**")
    assert not rows[1][4].startswith("**")
    assert round_trips_compared(trips(condition()))[1] == []


def test_what_was_lost_is_told_with_its_status() -> None:
    lost = round_trips_lost(trips(condition(skipped=[LOSS], failed=[LOSS | {"n": 2}])))
    assert [(one["status"], one["n"]) for one in lost] == [("skipped", LOSS["n"]), ("failed", 2)]
