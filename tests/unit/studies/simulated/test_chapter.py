"""The chapter on simulated counts, and what its macros say in every branch."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences
from simulated_tables import CACHES, Truth, beside, facts_of, walks

from copycost.config.simulated import FIGURES

TEXTS = GOLDEN / "simulated"
NO_QEMU = ("skipped", "the command qemu-system-x86_64 was not found", "install qemu-system-x86")
NOTHING = Truth(sizes=(), lost=[NO_QEMU])
ALIKE = Truth(user=0.0, kernel=0.0, working_sets=("hot",), variants=("plain",))
WORSE = Truth(user=0.0, deferred=3.0, working_sets=("hot",), variants=("plain",))
PREFETCHED = {"guest": {"kernel": "6.1", "qemu": "8.2.2"},
              "caches": CACHES | {"prefetcher": "next_line"}}  # fmt: skip

Of = Callable[[Mapping[str, Any]], tuple[object, ...]]


def level(**given: object) -> dict[str, object]:
    """Return what is known of the application's copy in one level."""
    empty: dict[str, object] = {
        name: []
        for name in ("neither", "one", "both", "beyond", "from_memory", "displaced", "found_beyond")
    }
    return empty | {"level": "l1d", "size_bytes": 32768} | given


def changed(name: str, fewer: list[int], more: list[int]) -> dict[str, object]:
    return {"level": name, "fewer": fewer, "more": more, "most_fewer": 2.0, "most_more": 1.0}


def most(user: float, kernel: float) -> dict[str, float]:
    return {"saved_user": user, "saved_kernel": kernel}


def payer(name: str) -> dict[str, object]:
    return {"implementation": "one_copy", "payer": name, "more_user": 0.5, "more_kernel": 1.0}


LEAST = 0.05
SIZES = [4096, 65536, 1048576]
MACROS: dict[str, dict[str, tuple[object, ...]]] = {
    "machine": {
        "plain": (facts_of(Truth()),),
        "prefetched": ({"machine": PREFETCHED},),
    },
    "kind_of_counts": {"any": (facts_of(Truth()),)},
    "by_whom": {
        "application": (most(2.0, 0.01), LEAST),
        "kernel": (most(0.0, 2.0), LEAST),
        "both": (most(1.0, 2.0), LEAST),
        "application_saves": (most(2.0, -0.5), LEAST),
        "kernel_saves": (most(-0.5, 2.0), LEAST),
    },
    "sizes_of": {
        "fewer": (changed("l1d", SIZES, []), SIZES),
        "both": (changed("l2", SIZES[1:], SIZES[:1]), SIZES),
        "more": (changed("llc", [], SIZES[:2]), SIZES),
    },
    "served": {"all": ([{"by": name, "lines": 0.5} for name in ("l2", "llc", "memory")],)},
    "saving": {
        "falls": (facts_of(Truth())["conditions"][0]["savings"][0], LEAST),
        "falls_in_the_kernel": (facts_of(Truth())["conditions"][2]["savings"][1], LEAST),
        "rises": (facts_of(WORSE)["conditions"][0]["savings"][1], LEAST),
        "same": (facts_of(ALIKE)["conditions"][0]["savings"][0], LEAST),
    },
    "why": {
        "both": (level(both=SIZES), SIZES),
        "neither_and_one": (level(neither=SIZES[2:], one=SIZES[:2], beyond=SIZES[2:],
                                  from_memory=SIZES[:2]), SIZES),
        "neither": (level(neither=SIZES[1:], both=SIZES[:1], beyond=SIZES[1:]), SIZES),
        "one": (level(one=SIZES[:1], both=SIZES[1:], displaced=SIZES[:1],
                      found_beyond=SIZES[2:]), SIZES),
    },
    "payer": {name: (payer(name), LEAST) for name in ("nobody", "user", "kernel", "both")},
    "surviving": {
        "all": (facts_of(Truth())["sensitivity"],),
        "some": (facts_of(Truth())["sensitivity"] | {"n_surviving": 3},),
        "none": (facts_of(Truth())["sensitivity"] | {"n_surviving": 0},),
        "nothing_changed": (facts_of(Truth(variants=("plain",)))["sensitivity"],),
    },
    "failing": {"one": ({"change": "caches of half the size", "n": 4, "n_surviving": 3},)},
    "walked": {
        "right": (walks(21),),
        "wrong": (walks(4000),),
    },
    "beside_counted": {"counted": ([{"ratio": 0.9}, {"ratio": 1.25}],), "not": ([],)},
    "beside_calls": {
        "all": ({"n_calls_agree": 2, "calls": [{}, {}]},),
        "some": ({"n_calls_agree": 1, "calls": [{}, {}]},),
    },
    "answer": {
        "counted": (facts_of(Truth(testbeds=("sink",), variants=("plain",))),),
        "worse": (facts_of(WORSE),),
        "alike": (facts_of(ALIKE),),
        "no_qemu": (facts_of(NOTHING),),
        "no_remedy": ({"n_counted": 0, "losses": [{"reason": "it is off", "remedy": None}]},),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", MACROS)
def test_each_branch_says_the_golden_sentences(name: str) -> None:
    text = branches(
        {
            branch: sentences("simulated_words", name, *arguments)
            for branch, arguments in MACROS[name].items()
        }
    )
    assert text == golden_text(TEXTS / f"{name}.md", text)


def test_the_whole_chapter_is_the_golden_one() -> None:
    facts = facts_of(Truth(lost=[NO_QEMU])) | {"beside": beside(Truth()), "walks": walks(21)}
    text = chapter("simulated", facts, list(FIGURES))
    assert text == golden_text(TEXTS / "chapter.md", text)


def test_what_was_not_asked_for_has_no_chapter() -> None:
    assert chapter("simulated", facts_of(NOTHING, enabled="auto"), []).strip() == ""


def test_what_was_asked_for_and_not_counted_has_its_reasons() -> None:
    text = chapter("simulated", facts_of(NOTHING), [])
    assert text == golden_text(TEXTS / "nothing_counted.md", text)
