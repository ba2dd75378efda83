"""Where zero-copy is real."""

from tools.recompute.told import Expected, Told, says


@says("Over the cells together, no difference in <cost> per byte was seen <i>")
def _cost_pooled_even(told: Told, cost: str, _i: str) -> Expected:
    logs = told.run.pair(told.condition, *told.pair, told.run.metric(told.condition, cost))
    return [None, told.run.pooled(logs)]


@says("Over the cells together, it took <x> times the <cost> per byte of `two_copy` <i>")
def _cost_pooled(told: Told, _x: str, cost: str, _i: str) -> Expected:
    one = _cost_pooled_even(told, cost, "")[1]
    return [one.value, None, one]
