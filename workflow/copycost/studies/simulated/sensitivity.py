"""Which conclusions survive when caches, kernel or copying instructions are others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copycost.analysis.json_values import Facts
from copycost.config.variants import PLAIN, VARIANTS
from copycost.studies.simulated.counts import LEVELS
from copycost.studies.simulated.savings import change_of, level_of, saved_at
from copycost.studies.simulated.values import BASELINE, Place, Values


@dataclass(frozen=True, slots=True)
class Trial:
    """A conclusion, tried again with one thing changed.

    A conclusion is which level's misses a way to send lowers most against `two_copy` at a size, and
    which levels' it raises or leaves as they are.
    """

    # which cell, with nothing changed
    place: Place
    implementation: str
    msg_bytes: int
    variant: str  # what was changed
    # whether the same level still falls most; whether all of the conclusion holds
    keeps_level: bool
    survives: bool


def trials_of(places: Mapping[Place, Values]) -> list[Trial]:
    """Return every conclusion with every change that its cell was counted with."""
    found = []
    for place, plain in places.items():
        for variant in VARIANTS:
            changed = places.get(place._replace(variant=variant))
            if place.variant != PLAIN or variant == PLAIN or changed is None:
                continue
            for name in plain.implementations:
                sizes = set(changed.common_sizes(BASELINE, name))
                for size in plain.common_sizes(BASELINE, name):
                    if name != BASELINE and size in sizes:
                        both = [saved_at(values, name, size) for values in (plain, changed)]
                        keeps = level_of(both[0]) == level_of(both[1])
                        signs = [[change_of(saved[level]) for level in LEVELS] for saved in both]
                        survives = keeps and signs[0] == signs[1]
                        found.append(Trial(place, name, size, variant, keeps, survives))
    return found


def sensitivity_facts(trials: Sequence[Trial]) -> Facts:
    """Return how many conclusions survive which change."""
    by_variant = {name: [one for one in trials if one.variant == name] for name in VARIANTS}
    return {
        # conclusions that were tried [count]
        "n": len({(one.place, one.implementation, one.msg_bytes) for one in trials}),
        # what was changed: name, change, how many conclusions were tried (`n`), of how many the
        # level that falls most stays the same (`n_keeping_level`), and how many survive
        # (`n_surviving`)
        "variants": [
            {
                "name": name,
                "change": VARIANTS[name].change,
                "n": len(tried),
                "n_keeping_level": sum(one.keeps_level for one in tried),
                "n_surviving": sum(one.survives for one in tried),
            }
            for name, tried in by_variant.items()
            if tried
        ],
    }


def tried_again(trials: Sequence[Trial], place: Place, saving: Facts) -> Facts:
    """Return under how many changes the conclusion of a saving was tried: in its very cell.

    `n_holding` are the changes under which the same level still falls most, or where none falls,
    still the same levels rise. The saving has a level that changes; `n` is 0 where the cell was not
    counted again.
    """
    cell = (place, saving["implementation"], saving["most"]["msg_bytes"])
    tried = [one for one in trials if (one.place, one.implementation, one.msg_bytes) == cell]
    falls = saving["verdict"] == "falls"
    holding = [one.keeps_level if falls else one.survives for one in tried]
    return {"n": len(tried), "n_holding": sum(holding)}
