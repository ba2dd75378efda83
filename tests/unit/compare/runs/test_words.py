"""What a comparison of two sides rests on, and what differs besides, in sentences."""

from typing import Any

from golden.sentences import check_branches, sentences

MACROS = ("rests", "order", "emulated", "differs", "only_one")


def said(**changed: Any) -> str:  # noqa: ANN401
    facts = {
        "unit": "rounds", "n_runs": [1, 1], "order": "in_turn", "differs": [], "differing": [],
        "only_a": {"n": 0}, "only_b": {"n": 0}, "n_shared": 0,
        "guests": {"n_emulated": 0, "n_one_side": 0},
        "spread": {"cell": 0.03, "whole": 0.015, "freedom": 6, "given": False},
    }  # fmt: skip
    return " ".join(filter(None, (sentences("between_runs_words", macro, facts | changed)
                                  for macro in MACROS)))  # fmt: skip


def test_what_a_comparison_rests_on_is_told() -> None:
    spread = {"cell": 0.02, "whole": 0.01, "freedom": 6, "given": True}
    names = ["commit", "kernel_release"]
    texts = {
        "single runs": said(order="a_first"),
        "spread stated": said(spread=spread, order="b_first", n_shared=2),
        "in turn, emulated": said(
            unit="paired rounds", guests={"n_emulated": 2, "n_one_side": 1}, order="a_first"
        ),
        "several runs": said(unit="runs", n_runs=[3, 2], only_a={"n": 1}, only_b={"n": 3}),
        "several of one side": said(
            unit="runs", n_runs=[3, 1], differs=[{"name": name} for name in names], differing=names
        ),
    }
    check_branches("between_runs_words", texts)
