"""Each sentence on many hosts."""

from typing import Any

from golden.sentences import check_branches, sentences

OUTCOMES = dict.fromkeys(("always", "never", "from", "up_to", "mixed", "undecided"), 0)


def say(macro: str, *arguments: object) -> str:
    return sentences("fleet_words", macro, *arguments)


def pair(implementation: str = "zero_copy") -> dict[str, Any]:
    return {"implementation": implementation, "baseline": "two_copy"}


def quantity(verdict: str = "open", cost: bool = False, **point: Any) -> dict[str, Any]:  # noqa: ANN401
    told = {
        "verdict": verdict, "msg_bytes": 65536, "n": 40, "ratio": 1.21, "low": 1.15, "high": 1.27,
        "next_low": 0.93, "next_high": 1.58, "spread": 0.13, "spread_low": 0.1,
        "spread_high": 0.18, "n_better": 31, "n_worse": 2, "n_open": 7, "outliers": [],
        "n_outliers": 0,
    }  # fmt: skip
    words = ["more expensive", "cheaper"] if cost else ["slower", "faster"]
    metric = "both_cpu_ns_per_byte" if cost else "throughput_bits_per_s"
    return {"metric": metric, "words": words, "point": told | point}


def test_what_holds_has_a_sentence_for_each_verdict() -> None:
    nothing = {"next_low": None, "next_high": None, "low": None, "high": None}
    verdicts = {
        "few": quantity("few", n=2, **nothing),
        "better": quantity("better", next_low=1.02, n_worse=0),
        "worse": quantity("worse", n_better=0, ratio=0.7, low=0.6, high=0.8),
        "better, with exceptions": quantity("better_but", next_low=1.02),
        "worse, with an exception": quantity("worse_but", n_better=1, n_worse=38),
        "better, though on none for sure": quantity("better", next_low=1.02, n_better=0, n_worse=0),
        "better, against one": quantity("better_but", next_low=1.04, n=10, n_better=0, n_worse=1),
        "depends": quantity("depends"),
        "mostly better": quantity("mostly_better", n_worse=0),
        "mostly worse, of a cost": quantity("mostly_worse", cost=True, n_better=0),
        "mostly worse, against some": quantity("mostly_worse", n_better=2, n_worse=0),
        "on each for sure": quantity("each_better", n=3, n_better=3, n_worse=0, n_open=0),
        "on some for sure, of a cost": quantity("each_worse", cost=True, n_better=0),
        "open": quantity("open"),
        "open, of a cost": quantity("open", cost=True),
        "few, of round trips": quantity("few", n=2, **nothing) | {"metric": "p50_ns"},
        "open, of round trips": quantity("open") | {"metric": "p99_ns"},
    }
    texts = {name: say("verdict", pair(), q, 0.95) for name, q in verdicts.items()}
    names = (
        "better",
        "worse",
        "better_but",
        "mostly_better",
        "mostly_worse",
        "each_better",
        "depends",
        "few",
        "open",
    )
    texts |= {f"in short, {name}": say("holds_for", name) for name in names}
    check_branches("fleet_verdict", texts)


def test_how_hosts_differ_is_told() -> None:
    here = {"better": [65536, 262144], "worse": [1024], "depends": [4096], "open": []}
    nowhere = {key: [] for key in here}
    outlier = {"name": "lab-3", "ratio": 3.4}
    unlike = ["kernel series Linux 5.10", "64 % of its repetitions disturbed"]
    groups = [
        {"value": "Linux 6.1", "n": 9, "ratio": 1.1},
        {"value": "Linux 6.18", "n": 12, "ratio": 1.4},
    ]
    texts = {
        "spread": say("spread", quantity()),
        "no spread": say("spread", quantity(spread=0)),
        "spread not told": say("spread", quantity(spread=None)),
        "sizes": say("holds", pair(), quantity() | {"holds": here}),
        "no sizes": say("holds", pair(), quantity() | {"holds": nowhere}),
        "outlier": say("outlier", quantity(), outlier | {"unlike": []}),
        "outlier that is unlike": say("outlier", quantity(), outlier | {"unlike": unlike}),
        "more outliers": say("outliers_left", quantity(n_outliers=3)),
        "no more": say("outliers_left", quantity()),
        "groups": say("goes_with", {"name": "kernel series", "groups": groups}),
        "rises": say("goes_with", {"name": "last-level cache", "groups": [], "sign": 1, "n": 30}),
        "falls": say("goes_with", {"name": "CPUs", "groups": [], "sign": -1, "n": 30}),
    }
    check_branches("fleet_spread", texts)


def test_where_it_turns_is_told() -> None:
    def turns(n: int = 40, **outcomes: int) -> str:
        counts = OUTCOMES | outcomes
        ends = {
            "first_below": 4096,
            "last_above": 65536,
            "middle_below": 16384,
            "middle_above": 32768,
        }
        told = {"n": n, "n_from": counts["from"], "outcomes": counts} | ends
        return say("turns", pair(), quantity() | {"turns": told})

    texts = {
        "several": turns(**{"from": 30, "always": 4, "undecided": 6}),
        "one": turns(**{"from": 1, "never": 30, "mixed": 2, "up_to": 7}),
        "none": turns(never=1, n=1),
    }
    check_branches("fleet_turns", texts)


def test_which_hosts_count_is_told() -> None:
    known = {
        "simulated": False,
        "n_simulated": 0,
        "n_hosts": 40,
        "n_older": 0,
        "one_kernel": [],
        "enough_for_intervals": True,
        "fewest": 3,
        "emulated": {"n_repetitions": 0, "n_hosts": 0},
    }
    facts = {"enough_for_facts": True, "fewest_for_facts": 8}
    texts = {
        "all": say("which", known),
        "two, simulated, with an earlier state": say(
            "which",
            known
            | {"simulated": True, "n_simulated": 2, "n_hosts": 2, "n_older": 1}
            | {"enough_for_intervals": False},
        ),
        "one simulated": say("which", known | {"n_simulated": 1}),
        "some simulated": say("which", known | {"n_simulated": 14}),
        "one with emulated guests": say(
            "which", known | {"emulated": {"n_repetitions": 12, "n_hosts": 1}}
        ),
        "on one kernel": say(
            "which", known | {"one_kernel": [{"name": "n1", "others": ["n2", "n3"]}]}
        ),
        "doubted": say("doubted", {"name": "lab-3"}),
        "unreadable": say("unreadable", {"name": "lab-3", "why": "set.json is cut off"}),
        "facts": say("no_cause", facts),
        "too few for facts": say("no_cause", facts | {"enough_for_facts": False}),
        "audit: on the kernel of another": say("can_be_measurements", "lab-3", "lab-1", 0, 0),
        "audit: refuted": say("can_be_measurements", "lab-3", None, 2, 0),
        "audit: questions": say("can_be_measurements", "lab-3", None, 0, 3),
        "audit: nothing": say("can_be_measurements", "lab-3", None, 0, 0),
    }
    check_branches("fleet_hosts", texts)
