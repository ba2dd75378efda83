"""Whether a message and its copy fit into the caches."""

from collections.abc import Mapping

from copycost.analysis.json_values import Facts

LEVELS = ("l1d", "l2", "llc")


def cache_fit(evidence: Mapping[str, Facts], caches: Mapping[str, int | None], most: int) -> Facts:
    """Return which caches the largest message and its copy exceed, and which hold them.

    Keys
    ----
    over, within, unknown
        Per cache: level, size_bytes, share (what they take, as a multiple of the size) and
        n_threads, whose messages these are; None where the level is not shared by threads.

    Parameters
    ----------
    evidence
        Predicates by name; ``exceeds_LEVEL`` are those asked.
    caches
        Sizes of the caches [bytes] by level.
    most
        The largest number of threads.
    """
    names = {"shown": "over", "contradicted": "within"}
    found: Facts = {"over": [], "within": [], "unknown": []}
    for level in LEVELS:
        weighed = evidence[f"exceeds_{level}"]
        found[names.get(weighed["weight"], "unknown")].append(
            {
                "level": level,
                "size_bytes": caches[level],
                "share": weighed["value"],
                "n_threads": most if level == "llc" and most > 1 else None,
            }
        )
    return found
