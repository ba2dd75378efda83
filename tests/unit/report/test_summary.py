"""The sentences of the summary, a branch at a time."""

from pathlib import Path
from typing import Any

from golden.branches import check_branches

from copycost.report.write import make_environment

TEMPLATES = Path(__file__).parents[3] / "report"
WORDS = make_environment(TEMPLATES).get_template("_macros/summary_words.j2").module


def scene(**changed: Any) -> str:  # noqa: ANN401
    facts: dict[str, Any] = {
        "slug": "veth",
        "n_measured": 60,
        "n_failed": 0,
        "n_skipped": 0,
        "sender_only": False,
        "grid": {"msg_bytes": [1024, 65536], "n_threads": [1, 2]},
    }
    return str(WORDS.scene(facts | changed, 0.3))  # type: ignore[attr-defined]


def highest(**changed: Any) -> str:  # noqa: ANN401
    cell = {
        "implementation": "one_copy", "msg_bytes": 65536, "n_threads": 2, "vague": False,
        "throughput_bits_per_s": 76.2e9, "low": 72.9e9, "high": 79.6e9, "cost_per_byte": None,
    }  # fmt: skip
    return str(WORDS.highest(cell | changed, "ns", 0.95))  # type: ignore[attr-defined]


def costs(unit: str, *ratios: dict[str, Any] | None) -> str:
    names = ("two_copy", "one_copy")
    cost = {
        "msg_bytes": 65536,
        "n_threads": 1,
        "implementations": [
            {"implementation": name, "median": 0.23, "ratio": ratio}
            for name, ratio in zip(names, ratios, strict=False)
        ],
    }
    return str(WORDS.costs(cost, "CPU time", unit, 0.95))  # type: ignore[attr-defined]


RATIO = {"value": 1.34, "low": 1.06, "high": 1.68, "sign": 1}


def test_each_branch_has_its_sentence() -> None:
    check_branches(
        "summary",
        {
            "all measured": scene(),
            "some lost": scene(n_measured=1, n_failed=1, n_skipped=2),
            "sender alone": scene(sender_only=True),
            "highest throughput": highest(cost_per_byte=0.2),
            "hardly determined": highest(vague=True, low=1e9),
            "highest, once": highest(low=None, high=None),
            "not copied": WORDS.completions({"weight": "contradicted", "value": 0.0}, None),  # type: ignore[attr-defined]
            "cost in ns": costs("ns", None, RATIO),
            "cost in cycles, no difference": costs("cycles", None, RATIO | {"sign": 0}),
            "cost without a ratio": costs("ns", None, None),
            "no cost": WORDS.costs(None, "CPU time", "ns", 0.95),  # type: ignore[attr-defined]
        },
    )


def test_completions_are_told_of_what_was_not_copied_only() -> None:
    copied = {"weight": "shown", "value": 1.0}
    assert WORDS.completions(copied, "zero-copy requested, 100 % copied") == ""  # type: ignore[attr-defined]
    assert WORDS.completions({"weight": "not_measured"}, None) == ""  # type: ignore[attr-defined]
