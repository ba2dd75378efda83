"""Each sentence on two sides that were compared."""

from typing import Any

from golden.sentences import check_branches, sentences

THROUGHPUT = {"name": "throughput", "words": ["slower", "faster"]}
CPU_TIME = {"name": "cpu_time", "words": ["cheaper", "more expensive"]}
ROUND_TRIP = {"name": "round_trip", "words": ["shorter", "longer"]}


def say(macro: str, *arguments: object) -> str:
    return sentences("between_runs_words", macro, *arguments)


def quantity(sign: int = 0, verdict: str = "no difference seen", **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    whole = {"ratio": 0.93, "low": 0.91, "high": 0.95, "sign": sign, "verdict": verdict}
    facts = THROUGHPUT | {
        "n_cells": 84, "n_better": 0, "n_worse": 0, "contradicts": False, "whole": whole,
        "half_width": 0.21, "standing": [], "spread_of_runs": None,
    }  # fmt: skip
    return facts | changed


def test_what_is_compared_has_its_name() -> None:
    texts = {q["name"]: say("what", q) for q in (THROUGHPUT, CPU_TIME, ROUND_TRIP)}
    check_branches("between_runs_what", texts)


def test_the_whole_has_a_sentence_for_each_outcome() -> None:
    known = {
        "slower": quantity(-1, "slower"),
        "open": quantity(),
        "contradicts": quantity(-1, "slower", contradicts=True),
        "once": quantity(0, "observed once"),
        "one cell": quantity(-1, "slower", n_cells=1),
    }
    check_branches("between_runs_whole", {name: say("whole", q, 0.95) for name, q in known.items()})


def test_cells_and_groups_have_a_sentence_for_each_outcome() -> None:
    stand = [
        {"verdict": "slower", "ways": ["zero_copy on veth"], "sizes": ["4 KiB", "64 KiB"]},
        {"verdict": "faster", "ways": [], "sizes": ["1 MiB"]},
    ]
    texts = {
        "some stand": say("cells", quantity(n_worse=12, n_better=1)),
        "one is worse": say("cells", quantity(n_worse=1)),
        "none stands": say("cells", quantity()),
        "none could": say("cells", quantity(half_width=None)),
        "once": say("cells", quantity(0, "observed once")),
        "groups": say("groups", quantity(standing=stand)),
        "groups that contradict": say("groups", quantity(standing=stand, contradicts=True)),
        "no group": say("groups", quantity()),
    }
    check_branches("between_runs_cells", texts)


def compared(**changed: Any) -> dict[str, Any]:  # noqa: ANN401
    facts = {
        "unit": "rounds", "n_runs": [1, 1], "order": "in_turn", "differs": [], "differing": [],
        "only_a": {"n": 0}, "only_b": {"n": 0}, "n_shared": 0,
        "guests": {"n_emulated": 0, "n_one_side": 0},
        "spread": {"cell": 0.03, "whole": 0.015, "freedom": 6, "given": False},
    }  # fmt: skip
    return facts | changed


def test_emulated_guests_are_told() -> None:
    counts = {"neither": (0, 0), "both sides": (6, 0), "one side": (0, 1), "some of each": (2, 6)}
    texts = {
        name: say("emulated", compared(guests={"n_emulated": both, "n_one_side": one}))
        for name, (both, one) in counts.items()
    }
    check_branches("between_runs_emulated", texts)


def test_what_the_intervals_rest_on_is_told() -> None:
    given = {"cell": 0.02, "whole": 0.01, "freedom": 6, "given": True}
    texts = {
        "single runs": say("rests", compared()),
        "single runs, spread stated": say("rests", compared(spread=given)),
        "in turn": say("rests", compared(unit="paired rounds")),
        "several runs": say("rests", compared(unit="runs", n_runs=[3, 2])),
        "several of one side": say("rests", compared(unit="runs", n_runs=[3, 1])),
        "A first": say("order", compared(order="a_first")),
        "B first": say("order", compared(order="b_first")),
        "paired, so the order is none": say(
            "order", compared(order="a_first", unit="paired rounds")
        ),
        "spread measured": say(
            "spread_measured", quantity(spread_of_runs={"cell": 0.031, "whole": 0.012})
        ),
        "spread within that of rounds": say(
            "spread_measured", quantity(spread_of_runs={"cell": 0.0, "whole": 0.012})
        ),
        "spread not measured": say("spread_measured", quantity()),
    }
    check_branches("between_runs_rests", texts)


def test_what_differs_besides_is_told() -> None:
    names = ["commit", "kernel_release"]
    differing = compared(differs=[{"name": name} for name in names], differing=names)
    texts = {
        "nothing": say("differs", compared()),
        "one": say("differs", compared(differs=[{"name": "commit"}], differing=["commit"])),
        "two": say("differs", differing),
        "cells of one side": say("only_one", compared(only_a={"n": 1}, only_b={"n": 3})),
        "cells taken over": say("only_one", compared(n_shared=2)),
        "all cells common": say("only_one", compared()),
    }
    check_branches("between_runs_differs", texts)


def test_a_gate_says_what_was_shown() -> None:
    def gate(cells: int, whole: bool, word: str = "slower", smallest: float | None = 3.2) -> str:
        facts = {"word": word, "percent": 5.0, "cells": [{}] * cells, "whole": whole}
        cannot_tell = not (whole or cells) and (smallest is None or smallest > 5.0)
        more = {"smallest_percent": smallest, "cannot_tell": cannot_tell}
        return say("gate", facts | more | {"fails": whole or cells > 0})

    texts = {
        "not shown": gate(0, False),
        "cannot tell": gate(0, False, smallest=7.9),
        "nothing could be shown": gate(0, False, smallest=None),
        "whole": gate(0, True),
        "cells": gate(2, False, "costlier"),
        "whole and a cell": gate(1, True, "longer"),
    }
    check_branches("between_runs_gate", texts)
