"""The chapter on round trips: what is compared, and each of its sentences."""

from typing import Any

from golden.sentences import check_branches, sentences

from copycost.report.round_trips import round_trips_compared

LOSS = {"n": 1, "reason": "no namespaces", "remedy": None}


def ratio(sign: int = 1, *, msg_bytes: int = 4096, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    row = {"implementation": "zero_copy", "percentile": "p50_ns", "msg_bytes": msg_bytes}
    row |= {"n_threads": 1, "value": 1.35, "low": 1.34, "high": 1.36, "sign": sign, "once": False}
    return row | changed


def condition(*ratios: dict[str, Any], **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    facts = {
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


COMPARED = {
    "differs": condition(ratio()),
    "differs at one of two": condition(ratio(), ratio(0, msg_bytes=64)),
    "differs with one of two thread counts": condition(
        ratio(), ratio(0, n_threads=2), n_threads=[1, 2]
    ),
    "observed once": condition(ratio(low=None, high=None, once=True)),
    "no difference": condition(ratio(0)),
    "not carried": condition(ratio(percentile="p999_ns")),
}


def test_each_outcome_has_its_sentence() -> None:
    texts = {}
    for name, facts in COMPARED.items():
        seen = round_trips_compared(facts, "two_copy")[0]
        texts[name] = sentences("round_trips_words", "percentile", seen, "two_copy", 0.95)
    check_branches("round_trips_percentile", texts)


def test_how_sure_it_is_and_what_was_lost_are_told() -> None:
    known = {
        "nothing compared": condition(),
        "observed once": condition(ratio(once=True)),
        "none stands": condition(ratio()),
        "some stand": condition(ratio(), ratio(), n_sure=1),
        "in turns": condition(ratio(), in_turns=True, n_sure=1),
        "disturbed": condition(n_warned=2, warnings={"steal": 1, "throttled": 2}),
    }
    texts = {
        name: sentences("round_trips_words", "how_sure", facts) for name, facts in known.items()
    }
    lost = {
        "skipped": condition(skipped=[LOSS]),
        "failed": condition(failed=[LOSS | {"n": 2, "remedy": "run as root"}]),
    }
    texts |= {name: sentences("round_trips_words", "losses", facts) for name, facts in lost.items()}
    check_branches("round_trips_how_sure", texts)


def test_what_guests_cost_has_its_sentence() -> None:
    spans = {
        "a range": ((150_000.0, 300_000.0), (410_000.0, 1_200_000.0)),
        "one value": ((8_000.0, 8_000.0), (21_000.0, 21_000.0)),
    }
    texts = {"no guests": sentences("round_trips_words", "inside_outside", {"cpu_in_guests": None})}
    for name, of in spans.items():
        ranges = [{"low": low, "high": high} for low, high in of]
        found = dict(zip(("inside", "outside"), ranges, strict=True))
        texts[name] = sentences("round_trips_words", "inside_outside", {"cpu_in_guests": found})
    check_branches("round_trips_inside_outside", texts)


def test_that_nothing_is_compared_has_its_sentence() -> None:
    two, mine = ({"implementation": name} for name in ("two_copy", "mine"))
    pair = {"slug": "vm_pair", "without": "veth"}
    texts = {
        name: sentences("round_trips_words", "nothing_compared", facts, "two_copy", in_guests)
        for name, facts, in_guests in (
            ("only one", {"slug": "veth", "rows": [two, two]}, []),
            ("only one, in guests, too", {"slug": "veth", "rows": [two, two]}, [pair]),
            ("only one, without guests, too", {"slug": "vm_pair", "rows": [two, two]}, [pair]),
            ("not in the same rounds", {"slug": "veth", "rows": [two, mine]}, [pair]),
        )
    }
    check_branches("round_trips_nothing_compared", texts)


def test_every_implementation_with_ratios_is_compared_in_order() -> None:
    facts = condition(ratio(), ratio(implementation="one_copy", percentile="p99_ns"))
    found = round_trips_compared(facts, "two_copy")
    assert [(row["implementation"], row["percentile"], row["compared"]) for row in found] == [
        ("one_copy", "p50_ns", False),
        ("one_copy", "p99_ns", True),
        ("zero_copy", "p50_ns", True),
        ("zero_copy", "p99_ns", False),
    ]
    assert round_trips_compared(condition(), "two_copy") == []
