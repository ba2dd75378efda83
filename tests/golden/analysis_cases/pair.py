"""Questions 4 and 5: one copy and no copy against two."""

from golden.analysis_facts import (
    AGAINST,
    CONFIDENCE,
    DOWN,
    EVEN,
    GRID,
    LABEL,
    OPEN,
    SHOWN,
    UNKNOWN,
    UP,
    Case,
    Facts,
    pair,
    weighed,
)


def _cheaper(branch: str, found: Facts, **more: object) -> Case:
    return "cheaper", branch, (found, pair("always", 6, **more), LABEL)


_RISE = UP | {"from_bytes": 4096, "to_bytes": 65536, "n_threads": 1}
_BOTH_WAYS = {"n_faster": 6, "n_compared": 6, "n_cheaper": 4, "n_more_expensive": 1}


def _per_message(branch: str, found: Facts, price: str = "shown") -> Case:
    facts: Facts = {"grid": GRID, "cost_label": LABEL}
    facts["message_price"] = {"weight": price, "rise": _RISE}
    return "per_message", branch, (found, facts, " (@fig-veth-cost-per-byte)", CONFIDENCE)


def _pooled(branch: str, found: Facts, n_cells: int = 6) -> Case:
    return (
        "numbers",
        branch,
        (pair("undecided", 2, 0, 4, pooled=found, n_cells=n_cells), "", CONFIDENCE),
    )


CASES: list[Case] = [
    _pooled("no difference over all", EVEN),
    _pooled("a difference over all, cells missing", UP, 8),
    _cheaper("cheaper", weighed("shown", DOWN)),
    _cheaper("more expensive", weighed("contradicted", UP)),
    _cheaper("no difference", OPEN),
    _cheaper("not measured", UNKNOWN),
    _cheaper("cheaper here and more expensive there", OPEN, cost_where_faster=_BOTH_WAYS),
    _per_message("shown", SHOWN),
    _per_message("the copy gets more expensive with the size", SHOWN, "contradicted"),
    _per_message("whether it hides the copy is open", SHOWN, "undecided"),
    _per_message("contradicted", AGAINST),
    _per_message("no difference", OPEN),
    _per_message("not measured", UNKNOWN),
]
