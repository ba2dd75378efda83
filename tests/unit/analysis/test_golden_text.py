"""The chapter of the six questions for two whole runs, and the verdicts of every scenario.

After an intended change: ``COPYCOST_UPDATE_GOLDEN=1 pytest tests/unit/analysis``, then read the
difference before committing it.
"""

import re
from functools import cache

import pytest
from analysed import asked, facts_of, text_of
from golden.compare import GOLDEN, golden_text
from golden.scenarios import SCENARIOS, SMALL
from synthetic import IMPLEMENTATIONS, Run, Udp

from copycost.analysis.json_values import Facts

CHAPTERS = {
    "counters": SCENARIOS["counters"],
    "every_question": Run(
        **SMALL,
        implementations=(*IMPLEMENTATIONS, "write_v", "uring_send"),
        unavailable={"uring_send": "io_uring is switched off (kernel.io_uring_disabled is 2)"},
        udp=Udp(),
    ),
}
"""Where every kind of sentence and of row stands in its place."""


@cache
def facts_of_scenario(name: str) -> Facts:
    return facts_of(SCENARIOS[name])


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_is_the_golden_one(name: str) -> None:
    chapters = ("analysis", "results") if name == "every_question" else ("analysis",)
    text = text_of(facts_of(CHAPTERS[name]), *chapters)
    text = re.sub(r"\n{3,}", "\n\n", text)
    if name == "counters":  # the rest is as in the other
        text = text[text.index("## Which cache") : text.index("## From which size")]
    assert text == golden_text(GOLDEN / "analysis" / f"{name}.md", text)


def verdicts_of(name: str, condition: str) -> str:
    """Return in a line what the facts of a scenario decide."""
    facts = facts_of_scenario(name)
    if not facts["conditions"][condition]["n_measured"]:
        return f"{name}, {condition}: not measured\n"
    decided = {
        question: ", ".join(dict.fromkeys(one.verdict for one in asked(facts, question, condition)))
        for question in ("zero_copy", "misses", "threads")
    }
    decided |= {
        f"{one.subject} wins": one.verdict
        for one in asked(facts, "crossover", condition)
        if one.reference == "two_copy"
    }
    tested = asked(facts, "expectation", condition)
    decided["violated"] = ", ".join(one.subject for one in tested if one.reasons)
    copied = [one.reason("copied_share") for one in asked(facts, "zero_copy", condition)]
    decided["all copied"] = next((one.verdict for one in copied if one), "")
    said = "; ".join(f"{key} {verdict or 'none'}" for key, verdict in decided.items())
    return f"{name}, {condition}: {said}\n"


@pytest.mark.slow
def test_scenarios_have_the_verdicts_that_they_were_made_for() -> None:
    text = "".join(
        verdicts_of(name, condition)
        for name in SCENARIOS
        for condition in facts_of_scenario(name)["grid"]["conditions"]
    )
    assert text == golden_text(GOLDEN / "verdicts.txt", text)
