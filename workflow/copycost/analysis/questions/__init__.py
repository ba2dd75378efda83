"""The six questions of the report, each a module that turns a condition's cells into an answer."""

from dataclasses import asdict

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import crossover_facts
from copycost.analysis.evidence import weigh
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE
from copycost.analysis.quality import quality_facts
from copycost.analysis.quantities import ONE, ZERO, Disagreement, Quantity, quantities
from copycost.analysis.questions.cache_misses import cache_miss_facts
from copycost.analysis.questions.contention import contention_facts
from copycost.analysis.questions.fastest import fastest_facts
from copycost.analysis.questions.other_implementations import other_ways_facts
from copycost.analysis.ratio_facts import ratio_facts
from copycost.stats.ratios import Ratio


def answer_questions(view: View) -> Facts:
    """Return crossovers, evidence and the answers of one condition.

    Keys
    ----
    crossovers
        ``one_copy_vs_two_copy`` and ``zero_copy_vs_two_copy``, the answers to questions 4 and 5,
        ``zero_copy_vs_one_copy``, and every other implementation's over two_copy.
    others
        What there is to say of the other implementations.
    quantities, evidence
        The measured quantities, and what each predicate over them says.
    questions
        ``q1`` (why zero-copy is not always fastest), ``q2`` (cache misses), ``q3`` (threads and
        contention). ``q6``, what was unexpected, is of all conditions together: see
        `copycost.analysis.questions.unexpected`.
    quality
        How clean the measurements were.
    """
    found = quantities(view)
    others = [name for name in view.implementations if name not in (BASELINE, ONE, ZERO)]
    pairs = [(name, BASELINE) for name in (ONE, ZERO, *others)] + [(ZERO, ONE)]
    crossovers = {f"{a}_vs_{b}": crossover_facts(view, a, b) for a, b in pairs}
    return {
        "crossovers": crossovers,
        "quantities": {name: _plain(value) for name, value in found.items()},
        "evidence": weigh(found),
        "questions": {
            "q1": fastest_facts(view),
            "q2": cache_miss_facts(view),
            "q3": contention_facts(view),
        },
        "others": other_ways_facts(view, others),
        "quality": quality_facts(view),
    }


def _plain(found: Quantity) -> Facts | float | None:
    if isinstance(found, Ratio):
        return ratio_facts(found)
    return asdict(found) if isinstance(found, Disagreement) else found
