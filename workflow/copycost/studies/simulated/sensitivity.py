"""Which conclusions survive when caches, kernel or copying instructions are others."""

from collections.abc import Iterator, Mapping

from copycost.analysis.json_values import Facts
from copycost.grid.variants import PLAIN, VARIANTS
from copycost.studies.simulated.counts import LEVELS
from copycost.studies.simulated.savings import change_of, level_of, saved_at
from copycost.studies.simulated.values import BASELINE, Place, Values


def sensitivity_facts(places: Mapping[Place, Values]) -> Facts:
    """Return each conclusion, and what becomes of it with one thing changed.

    A conclusion is which level's misses a way to send lowers most against `two_copy` at a size, and
    which levels' it raises or leaves as they are. It survives a change that leaves all of that.

    Keys
    ----
    variants
        What was changed: name, change, how many conclusions were tried (`n`), of how many the level
        that falls most stays the same (`n_keeping_level`), and how many survive.
    conclusions
        Testbed, working set, implementation, size; per variant what is saved then, whether the same
        level falls most (`keeps_level`), and whether the whole conclusion survives.
    n
        Conclusions [count].
    """
    conclusions = [one for place in places if place.variant == PLAIN
                   for one in _conclusions(place, places)]  # fmt: skip
    tried = {found["name"] for one in conclusions for found in one["variants"]}
    return {
        "variants": [_variant(name, conclusions) for name in VARIANTS if name in tried],
        "conclusions": conclusions,
        "n": len(conclusions),
    }


def tried_again(sensitivity: Facts, place: Place, saving: Facts) -> Facts:
    """Return under how many changes the conclusion of a saving was tried: in its very cell.

    Keys
    ----
    n, n_holding
        Changes, and those under which the same level still falls most, or where none falls, still
        the same levels rise [count]; no change where the cell was not counted again.

    Parameters
    ----------
    sensitivity
        What `sensitivity_facts` says.
    place
        Where is saved.
    saving
        As `saving_of` says, with a level that changes.
    """
    cell = {
        "testbed": place.testbed,
        "working_set": place.working_set,
        "implementation": saving["implementation"],
        "msg_bytes": saving["most"]["msg_bytes"],
    }
    tried = [
        found
        for one in sensitivity["conclusions"]
        if cell.items() <= one.items()
        for found in one["variants"]
    ]
    holds = "keeps_level" if saving["verdict"] == "falls" else "survives"
    return {"n": len(tried), "n_holding": sum(found[holds] for found in tried)}


def _variant(name: str, conclusions: list[Facts]) -> Facts:
    tried = [found for one in conclusions for found in one["variants"] if found["name"] == name]
    return {
        "name": name,
        "change": VARIANTS[name].change,
        "n": len(tried),
        "n_keeping_level": sum(found["keeps_level"] for found in tried),
        "n_surviving": sum(found["survives"] for found in tried),
    }


def _conclusions(place: Place, places: Mapping[Place, Values]) -> Iterator[Facts]:
    plain = places[place]
    others = [
        (name, other)
        for name in VARIANTS
        if name != PLAIN and (other := places.get(place._replace(variant=name))) is not None
    ]
    for implementation in plain.implementations:
        if implementation == BASELINE:
            continue
        for size in plain.common_sizes(BASELINE, implementation):
            saved = saved_at(plain, implementation, size)
            tried = [
                _tried(name, saved, saved_at(other, implementation, size))
                for name, other in others
                if size in other.common_sizes(BASELINE, implementation)
            ]
            if not tried:
                continue
            yield {
                "testbed": place.testbed,
                "working_set": place.working_set,
                "implementation": implementation,
                "msg_bytes": size,
                "variants": tried,
            }


def _tried(name: str, plain: Mapping[str, float], saved: Mapping[str, float]) -> Facts:
    return {
        "name": name,
        "keeps_level": level_of(saved) == level_of(plain),
        "survives": _says(saved) == _says(plain),
    }


def _says(saved: Mapping[str, float]) -> tuple[str | None, ...]:
    return (level_of(saved), *(change_of(saved[level]) for level in LEVELS))
