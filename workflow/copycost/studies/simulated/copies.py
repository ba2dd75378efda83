"""Where the application's copy finds its source and its target, and why not in a level.

A copy loads its source and stores its target, so misses of loads are those of the one, and misses
of stores those of the other.
"""

from collections.abc import Mapping

from copycost.analysis.json_values import Facts
from copycost.grid.conditions import COLD
from copycost.studies.simulated.counts import LEVELS
from copycost.studies.simulated.values import BASELINE, Values

# of one miss per line: from here on a source or target was not found in a level
_MISSED = 0.5


def copy_at(
    values: Values, implementation: str, msg_bytes: int, level: str, cache_bytes: int
) -> Facts:
    """Return what a level misses of the application's copy, which an implementation spares.

    The copy is what the application misses more with `two_copy`.

    Keys
    ----
    source, target
        Misses per line of either.
    misses
        Which of them is missed: ``both``, ``source``, ``target``, ``neither``.
    reasons
        Why: ``from_memory`` (a cold source comes from there), ``beyond`` (message and copy together
        exceed the level), ``displaced`` (they would fit).
    size_bytes
        The level's size [bytes].
    """
    key, baseline = (implementation, msg_bytes), (BASELINE, msg_bytes)
    saved = values.misses[baseline][level]["user"] - values.misses[key][level]["user"]
    source = values.loads[baseline][level]["user"] - values.loads[key][level]["user"]
    target = saved - source
    missed = {"source": source >= _MISSED, "target": target >= _MISSED}
    names = [name for name, is_missed in missed.items() if is_missed]
    return {
        "source": source,
        "target": target,
        "misses": "both" if len(names) > 1 else names[0] if names else "neither",
        "reasons": _reasons(
            missed["source"],
            missed["target"],
            2 * msg_bytes <= cache_bytes,
            values.place.working_set == COLD,
        ),
        "size_bytes": cache_bytes,
    }


def _reasons(source: bool, target: bool, fits: bool, cold: bool) -> list[str]:
    reasons = ["from_memory"] if source and cold else []
    if target or (source and not cold):
        reasons.append("displaced" if fits else "beyond")
    return reasons


def copy_facts(values: Values, caches: Mapping[str, int]) -> Facts | None:
    """Return where source and target of the application's copy were found, by size.

    Keys
    ----
    levels
        Per level its size [bytes]; the sizes at which it misses the `source`, the `target` and
        `neither`; the sizes of each reason (see `copy_at`); those at which neither is missed
        although they exceed it together (`found_beyond`); and `missed`, misses per line by size.
    sizes
        All sizes that were compared.

    Parameters
    ----------
    values
        The cells of one place; the copy is what `one_copy` spares.
    caches
        Size of each level [bytes].

    Returns
    -------
    None where `two_copy` and `one_copy` were counted nowhere together.
    """
    sizes = values.common_sizes(BASELINE, "one_copy")
    if not sizes:
        return None
    return {
        "sizes": sizes,
        "levels": [
            _level(
                level,
                caches[level],
                {size: copy_at(values, "one_copy", size, level, caches[level]) for size in sizes},
            )
            for level in LEVELS
        ],
    }


def _level(level: str, cache_bytes: int, copies: Mapping[int, Facts]) -> Facts:
    def where(*kinds: str) -> list[int]:
        return [size for size, copy in copies.items() if copy["misses"] in kinds]

    return {
        "level": level,
        "size_bytes": cache_bytes,
        "source": where("both", "source"),
        "target": where("both", "target"),
        "neither": where("neither"),
        **{
            reason: [size for size, copy in copies.items() if reason in copy["reasons"]]
            for reason in ("from_memory", "beyond", "displaced")
        },
        "found_beyond": [size for size in where("neither") if 2 * size > cache_bytes],
        "missed": [
            {"msg_bytes": size, "source": copy["source"], "target": copy["target"]}
            for size, copy in copies.items()
        ],
    }
