"""What holds of hosts in general, by the mean over them and by what is sure of each."""

from collections.abc import Mapping, Sequence
from typing import Any

from copycost.analysis.json_values import Facts
from copycost.stats.random_effects import FEWEST

HOLDS_FOR = {
    **dict.fromkeys(("better", "worse"), "every host"),
    **dict.fromkeys(("better_but", "worse_but"), "all but a few"),
    **dict.fromkeys(("mostly_better", "mostly_worse"), "the mean"),
    **dict.fromkeys(("each_better", "each_worse"), "some hosts"),
    "depends": "it depends", "few": "too few hosts", "open": "open",
}  # fmt: skip
"""What a verdict says, for a column of a table."""


def verdict_of(one: Mapping[str, Any]) -> str:
    """Return what holds of hosts in general.

    ``better`` and ``worse``: on every host, as far as can be told, and expected of a further one;
    ``better_but``, ``worse_but``: expected of a further one, but a few are otherwise for sure;
    ``mostly_...``: in the mean, which tells nothing of a further one; ``depends``: better on some
    hosts and worse on others for sure; ``each_better``, ``each_worse``: on some hosts for sure and
    on none the other way, though these hosts leave the mean open; ``open``: seen nowhere; ``few``:
    too few hosts to say.
    """
    n_better, n_worse = one["n_better"], one["n_worse"]
    if one["n"] < FEWEST and not (n_better and n_worse):
        return "few"
    if one["next_sign"] > 0:
        return "better_but" if n_worse else "better"
    if one["next_sign"] < 0:
        return "worse_but" if n_better else "worse"
    if n_better and n_worse:
        return "depends"
    if one["mean_sign"]:
        return "mostly_better" if one["mean_sign"] > 0 else "mostly_worse"
    if n_better or n_worse:
        return "each_better" if n_better else "each_worse"
    return "open"


def holds_at(sizes: Sequence[Facts]) -> Facts:
    """Return the sizes by what holds on all hosts: better, worse, or it depends on the host."""
    found: dict[str, list[int]] = {"better": [], "worse": [], "depends": [], "open": []}
    for one in sizes:
        verdict = "depends" if one["n_better"] and one["n_worse"] else verdict_of(one)
        found[verdict if verdict in found else "open"].append(one["msg_bytes"])
    return dict(found)
