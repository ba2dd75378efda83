"""The sentences of the summary, a branch at a time."""

from typing import Any

from golden.sentences import check_branches, sentences


def scene(**changed: Any) -> str:  # noqa: ANN401
    facts: dict[str, Any] = {
        "slug": "veth",
        "n_measured": 60,
        "n_failed": 0,
        "n_skipped": 0,
        "sender_only": False,
        "grid": {"msg_bytes": [1024, 65536], "n_threads": [1, 2]},
    }
    return sentences("summary_words", "scene", facts | changed, 0.3)


def highest(**changed: Any) -> str:  # noqa: ANN401
    cell = {
        "implementation": "one_copy", "msg_bytes": 65536, "n_threads": 2, "vague": False,
        "throughput_bits_per_s": 76.2e9, "once": False, "cost_per_byte": None,
    }  # fmt: skip
    return sentences("summary_words", "highest", cell | changed, "ns")


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
    return sentences("summary_words", "costs", cost, "CPU time", unit, 0.95)


RATIO = {"value": 1.34, "low": 1.06, "high": 1.68, "sign": 1}


def test_each_branch_has_its_sentence() -> None:
    check_branches(
        "summary",
        {
            "all measured": scene(),
            "some lost": scene(n_measured=1, n_failed=1, n_skipped=2),
            "sender alone": scene(sender_only=True),
            "highest throughput": highest(cost_per_byte=0.2),
            "hardly determined": highest(vague=True),
            "highest, once": highest(once=True),
            "not copied": sentences(
                "summary_words", "completions", {"weight": "contradicted", "value": 0.0}, None
            ),
            "cost in ns": costs("ns", None, RATIO),
            "cost in cycles, no difference": costs("cycles", None, RATIO | {"sign": 0}),
            "cost without a ratio": costs("ns", None, None),
            "no cost": sentences("summary_words", "costs", None, "CPU time", "ns", 0.95),
        },
    )


def test_completions_are_told_of_what_was_not_copied_only() -> None:
    copied = {"weight": "shown", "value": 1.0}
    assert (
        sentences("summary_words", "completions", copied, "zero-copy requested, 100 % copied") == ""
    )
    assert sentences("summary_words", "completions", {"weight": "not_measured"}, None) == ""
