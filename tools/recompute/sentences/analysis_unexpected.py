"""Question 6: what was unexpected."""

from tools.recompute.expectations import Fared, copied, fared, numbers_tested, ranked
from tools.recompute.report_tables import names_case
from tools.recompute.told import Expected, Slot, Told, says


def named_first(told: Told) -> Fared:
    """Return how the expectation fared that is violated most."""
    return fared(told.run, told.condition, ranked(told.run, told.condition)[0])


@says("This expectation was violated most: *<statement>")
def _lead(told: Told, statement: str) -> Expected:
    first = ranked(told.run, told.condition)[0]
    said = statement.replace("costs the sender ", "costs ")
    assert said == first, f"it is: {first}"
    return [None]


@says("Yet of <n> comparisons of this kind, <n> went against it")
def _against(told: Told, *_: Slot) -> Expected:
    found = named_first(told)
    return [len(found.cases), len(found.against)]


@says("Yet all <n> comparisons of this kind went against it")
def _all_against(told: Told, _n: int) -> Expected:
    found = named_first(told)
    return [len(found.cases) if len(found.cases) == len(found.against) else -1]


@says("Yet the one comparison of this kind went against it")
def _one_against(told: Told) -> Expected:
    found = named_first(told)
    assert len(found.cases) == len(found.against) == 1, f"it is one of {len(found.cases)}"
    return []


@says("<n> went with it")
def _held(told: Told, _n: int) -> Expected:
    return [named_first(told).held]


@says("<n> showed no difference")
def _open(told: Told, _n: int) -> Expected:
    return [named_first(told).open]


@says(
    "In the strongest case, throughput was <x> times as high <i>: <case>",
    "In the strongest case, the cost per byte was <x> times as high <i>: <case>",
    "In the strongest case, the ratio of the throughputs changed to <x> times <i>: <case>",
    "In the strongest case, L1 data cache misses per byte were <x> times as many <i>: <case>",
    "In the strongest case, the ratio of the throughputs was <x> times as high as with one message "
    "sent again and again <i>: <case>",
)
def _strongest(told: Told, _x: str, _i: str, where: str) -> Expected:
    case, ratio = named_first(told).strongest
    assert names_case(told.run, where, case), f"it is {case}"
    return [ratio.value, ratio, None]


@says(
    "<n> others could not, for want of cells or counters",
    "<n> other could not, for want of cells or counters",
    "<n> others could not be tested, for want of cells or counters",
    "<n> other could not be tested, for want of cells or counters",
)
def _untested(told: Told, _n: int) -> Expected:
    return [numbers_tested(told.run, told.condition).count(0)]


@says("None of the <n> expectations that could be tested was violated, in <n> comparisons")
def _none_violated(told: Told, *_: Slot) -> Expected:
    assert not ranked(told.run, told.condition), "some were"
    numbers = numbers_tested(told.run, told.condition)
    return [len(numbers) - numbers.count(0), sum(numbers)]


@says("it marked <p> of the completions as copied")
def _copied(told: Told, _p: str) -> Expected:
    return [copied(told.run, told.condition)]
