"""Question 1: why zero-copy is not always the fastest."""

from golden.analysis_facts import (
    AGAINST,
    BOTH,
    CONFIDENCE,
    COPIED,
    FIGURES,
    LABEL,
    NOT_COPIED,
    NOT_TOLD,
    OPEN,
    PARTLY,
    SHOWN,
    UNKNOWN,
    Case,
    Facts,
    one_by_one,
    pair,
    weighed,
)


def _won(
    branch: str, verdict: str, won: int = 0, lost: int = 0, left: int = 0, **more: object
) -> Case:
    n = won + lost + left
    facts: Facts = {
        "verdict": verdict,
        "rivals": BOTH,
        "observed_once": False,
        "won_is_block": False,
    }
    facts |= {"n_cells": n, "n_compared": n, "n_won": won, "n_lost": lost, "n_open": left}
    return "verdict", branch, (facts | more,)


def _told(branch: str, evidence: Facts, won: bool = False) -> Case:
    return "copied", branch, ({"name": "veth", "evidence": evidence}, FIGURES, won)


def _cost(branch: str, found: Facts, won: bool = False, dearer: int = 0, cheaper: int = 0) -> Case:
    facts = {
        "cost_label": LABEL,
        "evidence": {"zero_copy_dearer": found},
        "questions": {"q1": {"cost": one_by_one(dearer, cheaper)}},
    }
    return "costs", branch, (facts, "two_copy", won, CONFIDENCE)


def _calls(branch: str, found: Facts, reads: float | None = None) -> Case:
    facts = {"evidence": {"more_system_calls": found}}
    return (
        "calls",
        branch,
        (facts | {"quantities": {"errqueue_reads_per_message": reads}}, "two_copy"),
    )


def _switches(branch: str, found: Facts, refused: Facts = UNKNOWN) -> Case:
    evidence = {"more_context_switches": found, "memory_limit_met": refused}
    return "switches", branch, ({"evidence": evidence}, "two_copy")


_BLOCK = {"won_is_block": True, "won_sizes": [32768, 65536], "won_threads": [1]}

CASES: list[Case] = [
    _won("not measured", "not_measured", rivals=[]),
    _won("everywhere", "everywhere", 6),
    _won("everywhere, one cell", "everywhere", 1, rivals=["two_copy"]),
    _won("somewhere", "somewhere", 2, 3, 1),
    _won("somewhere, a block", "somewhere", 2, 0, 3, **_BLOCK),
    _won("nowhere", "nowhere", 0, 6),
    _won("nowhere, one cell", "nowhere", 0, 1),
    _won("not shown, lost some", "not_shown", 0, 2, 4),
    _won("not shown, lost none", "not_shown", 0, 0, 6),
    _told("all", COPIED),
    _told("a part", PARTLY),
    _told("none, and ahead", NOT_COPIED, won=True),
    _told("none, and behind", NOT_COPIED),
    _told("not told", NOT_TOLD),
    _cost("more, though ahead", SHOWN, won=True),
    _cost("more", SHOWN),
    _cost("less, though behind", AGAINST, dearer=2, cheaper=4),
    _cost("no difference, some more", OPEN, dearer=2),
    _cost("no difference, some less", OPEN, cheaper=2),
    _cost("not measured", UNKNOWN),
    _calls("more", SHOWN, 0.12),
    _calls("not more", AGAINST),
    _calls("no difference", OPEN),
    _calls("not measured", UNKNOWN),
    _switches("more", SHOWN, weighed("shown", 0.021)),
    _switches("not more", AGAINST),
    _switches("no difference", OPEN),
    _switches("not measured", UNKNOWN),
    ("sampled", "one cell", ({"msg_bytes": 65536, "n_threads": 1},)),
    ("untold", "without a profile", (False, False)),
    ("untold", "without a profile and a card", (False, True)),
    ("untold", "without a card", (True, True)),
    ("numbers", "one cell", (pair("always", 1), " (@fig-veth-throughput)", CONFIDENCE)),
    ("numbers", "several cells", (pair("always", 6), " (@fig-veth-throughput)", CONFIDENCE)),
]
