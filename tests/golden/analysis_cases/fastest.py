"""Question 1: why zero-copy is not always the fastest."""

from golden.analysis_facts import (
    BOTH,
    CONFIDENCE,
    COPIED,
    DOWN,
    EVEN,
    FIGURES,
    NOT_COPIED,
    NOT_TOLD,
    PARTLY,
    UP,
    Case,
    Facts,
    explained,
    factor,
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


def _told(branch: str, evidence: Facts, won: bool = False, kernels: int = 1) -> Case:
    facts = {"name": "veth", "evidence": evidence, "kernels": kernels, "guests": 0}
    return "copied", branch, (facts, FIGURES, won)


def _difference(branch: str, found: Facts | None, slower: bool) -> Case:
    facts = {"n_cells": 4, "explained": found}
    return "difference", branch, (facts, "two_copy", slower)


def _beside(branch: str, slower: bool) -> Case:
    facts = {"n_cells": 4, "explained": _EXPLAINED, "rates": _RATES}
    return "beside", branch, (facts, "two_copy", slower)


_NOTHING: Facts = {"slower": None, "faster": None, "n_won": 0, "n_lost": 0}
_RATES: Facts = {"differ": [], "alike": [], "resent_share": None}
_EXPLAINED = explained("alone", factor("cost", DOWN), factor("use", EVEN), 1)
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
    _told("all, between two machines", COPIED, kernels=2),
    _told("a part", PARTLY),
    _told("none, and ahead", NOT_COPIED, won=True),
    _told("none, and behind", NOT_COPIED),
    _told("not told", NOT_TOLD),
    _difference("slower", _EXPLAINED, True),
    _difference("faster", _EXPLAINED | {"throughput": UP}, False),
    _difference("slower, without CPU time", None, True),
    _difference("faster, without CPU time", None, False),
    ("unexplained", "nothing stands", (_NOTHING | {"n_lost": 2}, "two_copy")),
    ("unexplained", "nothing seen", (_NOTHING, "two_copy")),
    ("refusals", "refused", (weighed("shown", 0.021),)),
    ("untold", "without a profile", (False,)),
    ("untold", "with a profile", (True,)),
    ("unanswered", "two conditions", ([{"slug": "veth"}, {"slug": "loopback"}],)),
    _beside("slower", True),
    _beside("faster", False),
    ("numbers", "one cell", (pair("always", 1), " (@fig-veth-throughput)", CONFIDENCE)),
    ("numbers", "several cells", (pair("always", 6), " (@fig-veth-throughput)", CONFIDENCE)),
]
