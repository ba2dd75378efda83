"""The chapter on simulated counts, and what its macros say in every branch."""

from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences
from simulated_tables import Truth, beside, facts_of, walks

from copycost.config.simulated import FIGURES
from copycost.studies.simulated.walks import walk_facts

TEXTS = GOLDEN / "simulated"
NO_QEMU = ("skipped", "the command qemu-system-x86_64 was not found", "install qemu-system-x86")
NOTHING = Truth(sizes=(), lost=[NO_QEMU])
ALIKE = Truth(user=0.0, kernel=0.0, working_sets=("hot",), variants=("plain",))
VERDICTS = {
    "falls": facts_of(Truth())["verdict"],
    "some_fall": {"n": 8, "n_falling": 5, "level": "l2", "n_level": 4},
    "same": facts_of(ALIKE)["verdict"],
    "nothing": facts_of(NOTHING)["verdict"],
}


def test_each_branch_says_the_golden_sentences() -> None:
    texts = {name: sentences("simulated_words", "verdict", one) for name, one in VERDICTS.items()}
    assert branches(texts) == golden_text(TEXTS / "verdict.md", branches(texts))


def test_a_model_that_counts_wrong_is_said() -> None:
    wrong = facts_of(Truth()) | {"walks": walks(4000)}
    assert "do not rely on any count of this run" in chapter("simulated", wrong, [])
    unchecked = facts_of(Truth()) | {"walks": walk_facts([], "the guest did not end within 60 s")}
    assert "so the model is unchecked: the guest did not end" in chapter("simulated", unchecked, [])


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
