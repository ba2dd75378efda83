"""The chapter on simulated counts, and what its macros say in every branch."""

import pytest
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences
from simulated_tables import ASSUMED, CACHES, Truth, beside, facts_of, walks

from copycost.config.simulated import FIGURES
from copycost.studies.simulated.walks import walk_facts

TEXTS = GOLDEN / "simulated"
NO_QEMU = ("skipped", "the command qemu-system-x86_64 was not found", "install qemu-system-x86")
NOTHING = Truth(sizes=(), lost=[NO_QEMU])
ALIKE = Truth(user=0.0, kernel=0.0, working_sets=("hot",), variants=("plain",))
PREFETCHED = {"guest": {"kernel": "6.1", "qemu": "8.2.2"}, "assumed": ASSUMED,
              "zeroes_pages": False, "repeats_bytes": True,
              "caches": CACHES | {"prefetcher": "next_line"}}  # fmt: skip
GUESSED = {"ways": ["l1d", "l2"], "sizes": ["llc"]}

MACROS: dict[str, dict[str, tuple[object, ...]]] = {
    "verdict": {
        "falls": (facts_of(Truth())["verdict"],),
        "some_fall": ({"n": 8, "n_falling": 5, "level": "l2", "n_level": 4},),
        "same": (facts_of(ALIKE)["verdict"],),
        "nothing": (facts_of(NOTHING)["verdict"],),
    },
    "machine": {
        "plain": (facts_of(Truth())["machine"],),
        "prefetched": (PREFETCHED,),
        "guessed": (PREFETCHED | {"assumed": GUESSED},),
    },
    "trust": {
        "right": (walks(21),),
        "wrong": (walks(4000),),
        "none": (walk_facts([], "the guest did not end within 60 s"),),
    },
    "not_counted": {
        "no_qemu": (facts_of(NOTHING),),
        "no_remedy": ({"losses": [{"reason": "it is off", "remedy": None}]},),
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
    text = chapter("simulated", facts, list(FIGURES), "simulated_details")
    assert text == golden_text(TEXTS / "chapter.md", text)


def test_what_was_not_asked_for_has_no_chapter() -> None:
    text = chapter("simulated", facts_of(NOTHING, enabled="auto"), [], "simulated_details")
    assert text.strip() == ""


def test_what_was_asked_for_and_not_counted_has_its_reasons() -> None:
    text = chapter("simulated", facts_of(NOTHING), [])
    assert text == golden_text(TEXTS / "nothing_counted.md", text)
