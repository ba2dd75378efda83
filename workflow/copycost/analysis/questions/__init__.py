"""The six questions of the report, each a module that turns a testbed's cells into an answer."""

from copycost.analysis.crossovers import crossover_facts
from copycost.analysis.plain import Facts
from copycost.analysis.view import View


def answer_questions(view: View) -> Facts:
    """Return crossovers and answers of one testbed."""
    return {
        "crossovers": {
            f"{a}_vs_{b}": crossover_facts(view, a, b)
            for a, b in (("one_copy", "two_copy"), ("zero_copy", "two_copy"))
        },
        "questions": {},
    }
