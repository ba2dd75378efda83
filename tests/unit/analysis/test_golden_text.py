"""The sentence of every branch, as it stands in tests/golden/analysis; and two whole chapters.

After an intended change: ``COPYCOST_UPDATE_GOLDEN=1 pytest tests/unit/analysis``, then read the
difference before committing it.
"""

import re
from functools import cache

import pytest
from analysed import TEMPLATES, facts_of, text_of
from golden.analysis_cases import CASES
from golden.compare import GOLDEN, golden_text
from golden.marks import Marks, without_marks
from golden.scenarios import SCENARIOS, SMALL
from jinja2 import Environment
from synthetic import IMPLEMENTATIONS, Run, Udp

from copycost.analysis.json_values import Facts
from copycost.report.write import make_environment

SENTENCES = GOLDEN / "analysis"
CHAPTERS = {
    "counters": SCENARIOS["counters"],
    "every_question": Run(
        **SMALL,
        implementations=(*IMPLEMENTATIONS, "write_v", "uring_send"),
        unavailable={"uring_send": "io_uring is switched off (kernel.io_uring_disabled is 2)"},
        udp=Udp(),
    ),
}
"""Where every kind of paragraph stands in its place."""
NOT_COPIED = Run(**SMALL, implementations=("two_copy", "zero_copy"), copied_share=lambda size: 0.0)
"""What has one part that those have not: a cost of zero-copy that is no throughput inverted."""


@cache
def environment() -> Environment:
    """Return the templates with marks."""
    found = make_environment(TEMPLATES)
    found.add_extension(Marks)
    return found


@cache
def marked_sentences(name: str) -> str:
    module = environment().get_template(f"_macros/analysis_{name}.j2").module
    lines = []
    for macro, branch, arguments in CASES[name]:
        found = getattr(module, macro)(*arguments)
        lines.append(f"{macro}, {branch}: {environment().filters['one_line'](found)}\n")
    return "".join(lines)


@cache
def facts_of_scenario(name: str) -> Facts:
    return facts_of(SCENARIOS[name])


@cache
def marked_chapter(name: str) -> str:
    return text_of(facts_of(CHAPTERS[name]), "analysis", "details", environment=environment())


@cache
def marked_part() -> str:
    """Return the part of question 5 in the appendix, from its heading to the next."""
    text = text_of(facts_of(NOT_COPIED), "details", environment=environment())
    start = text.index("### Zero-copy or two copies")
    return text[start : text.index("###", start + 3)]


@pytest.mark.parametrize("name", CASES)
def test_sentences_are_the_golden_ones(name: str) -> None:
    text = without_marks(marked_sentences(name))
    assert text == golden_text(SENTENCES / f"{name}.txt", text)


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_is_the_golden_one(name: str) -> None:
    text = re.sub(r"\n{3,}", "\n\n", without_marks(marked_chapter(name)))
    assert text == golden_text(SENTENCES / f"{name}.md", text)


def test_part_of_what_is_not_copied_is_the_golden_one() -> None:
    text = re.sub(r"\n{3,}", "\n\n", without_marks(marked_part()))
    assert text == golden_text(SENTENCES / "not_copied.md", text)


def test_every_sentence_of_the_templates_is_in_a_golden_text() -> None:
    texts = [marked_sentences(name) for name in CASES] + [marked_chapter(name) for name in CHAPTERS]
    texts.append(marked_part())
    marks = environment().extensions[Marks.identifier]
    assert isinstance(marks, Marks)
    missing = marks.missing("".join(texts))
    ours = ("analysis.qmd.j2", "details.qmd.j2", *(f"_macros/analysis_{name}.j2" for name in CASES))
    assert [words for words in missing if words.startswith(ours)] == []


def test_no_golden_text_is_left_over() -> None:
    names = {f"{name}.txt" for name in CASES} | {f"{name}.md" for name in (*CHAPTERS, "not_copied")}
    assert {path.name for path in SENTENCES.iterdir()} == names


def verdicts_of(name: str, condition: str) -> str:
    """Return in a line what the facts of a scenario decide."""
    found = facts_of_scenario(name)["conditions"][condition]
    if not found["n_measured"]:
        return f"{name}, {condition}: not measured\n"
    questions, pairs = found["questions"], found["crossovers"]
    decided = {f"q{n}": questions[f"q{n}"]["verdict"] for n in (1, 2, 3)}
    decided |= {
        question: " + ".join(group["outcome"] for group in pairs[f"{way}_vs_two_copy"]["groups"])
        for question, way in (("q4", "one_copy"), ("q5", "zero_copy"))
    }
    decided["q6"] = next((row["id"] for row in questions["q6"]["violations"]), "none")
    decided |= {name: found["evidence"][name]["weight"] for name in ("all_copied", "partly_copied")}
    decided["contention"] = found["contention"]
    return f"{name}, {condition}: {', '.join(f'{key} {said}' for key, said in decided.items())}\n"


@pytest.mark.slow
def test_scenarios_have_the_verdicts_that_they_were_made_for() -> None:
    text = "".join(
        verdicts_of(name, condition)
        for name in SCENARIOS
        for condition in facts_of_scenario(name)["grid"]["conditions"]
    )
    assert text == golden_text(GOLDEN / "verdicts.txt", text)
