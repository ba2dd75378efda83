"""What the chapter on all ways says of the cheapest one, at the smallest and the largest size."""

from collections.abc import Iterable, Mapping
from typing import Any

from copycost.figures.markers import families

_FEW = 3
"""So many names are told; more are counted."""


def ranked(conditions: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the conditions with a ranking by cost, of more ways than a table of cells shows."""
    return [
        condition
        for condition in conditions
        if len(families(condition["grid"]["implementations"])) > 1
        and (ranking := condition.get("ranking"))
        and ranking["side"]
        and any(at["rows"] for at in ranking["sizes"])
    ]


def has_floor(condition: Mapping[str, Any]) -> bool:
    """Tell whether costs of a ranking are given as multiples of a plain copy too."""
    return any(at["floor_ns_per_byte"] is not None for at in condition["ranking"]["sizes"])


def ranking_ends(condition: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the smallest and the largest size of a ranking, once where there is only one.

    Keys
    ----
    msg_bytes, floor_level, floor_bytes
        As in the ranking.
    best
        The row with the lowest median.
    unshown
        The others that were not shown to cost more.
    n_others
        How many others there are.
    verdict
        ``alone``, ``all_once``, ``best_once`` (no other can be told from it), ``none``, ``all``
        (were shown to cost more), ``some`` (were not), ``many`` (were not).
    """
    sizes = condition["ranking"]["sizes"]
    return [_end(at) for at in (sizes[:1] if len(sizes) == 1 else (sizes[0], sizes[-1]))]


def _end(at: Mapping[str, Any]) -> dict[str, Any]:
    best, *others = at["rows"]
    unshown = [name for name in at["winners"] if name != best["implementation"]]
    if not others:
        verdict = "alone"
    elif max(row["n"] for row in at["rows"]) == 1:
        verdict = "all_once"
    elif best["n"] == 1:
        verdict = "best_once"
    elif len(unshown) == len(others):
        verdict = "none"
    elif not unshown:
        verdict = "all"
    else:
        verdict = "some" if len(unshown) <= _FEW else "many"
    return {
        "msg_bytes": at["msg_bytes"],
        "floor_level": at["floor_level"],
        "floor_bytes": at["floor_bytes"],
        "best": best,
        "unshown": unshown,
        "n_others": len(others),
        "verdict": verdict,
    }
