"""The abstract: which comparisons it tells, and each of its sentences."""

import copy
from typing import Any

import pytest
from golden.sentences import check_branches, sentences

from copycost.report.in_short import compared_in_short, pair_in_short

KIB = 1024
SIZES = [KIB, 4 * KIB, 16 * KIB, 64 * KIB]


def pair(overall: str, *, better: int = 0, worse: int = 0, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    facts: dict[str, Any] = {
        "implementation": "one_copy",
        "baseline": "two_copy",
        "overall": overall,
        "common": None,
        "bracket": None,
        "reversals": [],
        "n_compared": 8,
        "n_better": better,
        "n_worse": worse,
        "n_sure": 0,
        "observed_once": False,
        "pooled": {"n": 3, "value": 1.02, "low": 0.97, "high": 1.08, "sign": 0},
    }
    return facts | changed


def condition(**changed: Any) -> dict[str, Any]:  # noqa: ANN401
    facts: dict[str, Any] = {
        "slug": "sink",
        "testbed": "sink",
        "transport": "datagram",
        "sender_only": False,
        "working_set": "hot",
        "receiver": "recv",
        "labels": {"zero_copy": None},
        "quantities": {"ring_per_llc": None},
        "grid": {"msg_bytes": SIZES},
    }
    return facts | changed


POOLED = {"n": 3, "value": 1.2, "low": 1.1, "high": 1.3, "sign": 1}
TURNS = {
    "common": {"better": SIZES[2:], "worse": SIZES[:2], "open": [], "all_sizes": SIZES},
    "bracket": {"below_bytes": 4 * KIB, "above_bytes": 16 * KIB},
}
WITH_A_GAP = {
    "common": {"better": SIZES[3:], "worse": SIZES[:1], "open": SIZES[1:3], "all_sizes": SIZES},
    "bracket": {"below_bytes": KIB, "above_bytes": 64 * KIB},
}
REVERSED = {"reversals": [{"msg_bytes": 4 * KIB, "better": [1], "worse": [4, 8]}]}
COMPARISONS = {
    "always": pair("always", better=8),
    "never": pair("never", worse=8),
    "from": pair("from", better=4, worse=4, **TURNS),
    "from, open sizes": pair("from", better=3, worse=3, **WITH_A_GAP),
    "from, reversed at a size": pair("from", better=4, worse=4, **WITH_A_GAP, **REVERSED),
    "from, once": pair("from", better=4, worse=4, observed_once=True, **TURNS),
    "mixed": pair("mixed", better=4, worse=4),
    "no difference": pair("undecided"),
    "never faster": pair("undecided", worse=1, n_sure=1),
    "never slower": pair("undecided", better=5, n_sure=2, pooled=POOLED),
    "unsettled": pair("undecided", better=3, worse=2),
    "depends": pair("depends", better=3, worse=2, **REVERSED),
}  # fmt: skip

SCENES = {
    "sender alone": condition(sender_only=True),
    "datagrams": condition(testbed="veth_udp", slug="veth_udp"),
    "stream": condition(testbed="veth", slug="veth", transport="stream"),
    "somebody else's": condition(testbed="table", slug="table"),
    "from memory": condition(
        sender_only=True, working_set="cold", quantities={"ring_per_llc": 4.0}
    ),
    "from a ring": condition(sender_only=True, working_set="16777216"),
    "another receiver": condition(testbed="veth", receiver="mmap", transport="stream"),
    "copied": condition(sender_only=True, labels={"zero_copy": "zero-copy requested, 5 % copied"}),
}


def test_each_outcome_has_its_sentence() -> None:
    texts = {
        name: sentences("in_short_words", "comparison", pair_in_short(facts), SIZES, 0.95)
        for name, facts in COMPARISONS.items()
    }
    check_branches("in_short_comparison", texts)


def test_each_kind_of_condition_has_its_sentence() -> None:
    texts = {name: sentences("in_short_words", "scene", facts) for name, facts in SCENES.items()}
    check_branches("in_short_scene", texts)


def test_cells_that_contradict_each_other_have_no_common_ratio() -> None:
    assert pair_in_short(pair("undecided", better=3, pooled=POOLED))["pooled"] == POOLED
    assert pair_in_short(pair("undecided", better=3, worse=1, pooled=POOLED))["pooled"] is None
    assert pair_in_short(pair("always", better=8, pooled=POOLED))["pooled"] is None


def test_one_cell_and_one_round_are_not_corrected() -> None:
    assert pair_in_short(pair("undecided", better=3))["n_corrected"] == 3
    assert pair_in_short(pair("undecided", better=3, observed_once=True))["n_corrected"] == 0
    assert pair_in_short(pair("undecided", better=1, n_compared=1))["n_corrected"] == 0


@pytest.mark.parametrize("gone", ["one_copy_vs_two_copy", "zero_copy_vs_two_copy"])
def test_what_was_not_compared_is_left_out(gone: str) -> None:
    crossovers = {name: pair("always", better=8)
                  for name in ("one_copy_vs_two_copy", "zero_copy_vs_two_copy")}  # fmt: skip
    crossovers[gone]["overall"] = "not_measured"
    facts = {
        "measured_conditions": ["sink"],
        "conditions": {"sink": {"crossovers": crossovers}, "lost": {}},
    }
    (one,) = compared_in_short(facts)
    assert len(one["pairs"]) == 1
    facts = copy.deepcopy(facts)
    for found in facts["conditions"]["sink"]["crossovers"].values():  # type: ignore[index]
        found["overall"] = "not_measured"
    assert compared_in_short(facts) == []
