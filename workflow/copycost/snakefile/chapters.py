"""The studies that have a chapter of the report to themselves, as values made of the configuration.

The report has the chapter of a study where the configuration enables it, and nowhere else: what
was asked for beside the report, or measured once, cannot be seen by a job that runs elsewhere.
"""

from collections.abc import Collection
from dataclasses import dataclass

from copycost.config import simulated
from copycost.config.config import Config
from copycost.config.studies import FIGURES
from copycost.errors import Unavailable
from copycost.snakefile.messages import STUDIES
from copycost.studies.profile.grid import cell_keys, figure_names
from copycost.studies.simulated.wanted import require_wanted

_FIGURES = {**FIGURES, simulated.STUDY: simulated.FIGURES}


@dataclass(frozen=True, slots=True)
class Chapter:
    """What a study gives to the report.

    Its name, which its section of the configuration and its template have too; the path of the file
    with its numbers and verdicts; and those of its figures, without suffix.
    """

    name: str
    facts: str
    figures: tuple[str, ...]


def chapter_of(name: str, config: Config) -> Chapter:
    """Return the chapter of a study."""
    figures = _FIGURES.get(name) or figure_names(cell_keys(config, explained_studies(config)))
    # of simulated counts, the report has what was measured beside them too
    facts = "report" if name == simulated.STUDY else "facts"
    paths = tuple(f"results/figures/{name}/{figure}" for figure in figures)
    return Chapter(name, f"results/{name}/{facts}.json", paths)


def why_not_simulated(config: Config) -> str | None:
    """Return why counts are not simulated where the configuration leaves it to us, and what helps.

    None where they are, and where the configuration says it.
    """
    try:
        require_wanted(config.simulated)
    except Unavailable as missing:
        return f"{missing.reason} ({missing.remedy})"
    return None


def enabled_chapters(config: Config, *, without: Collection[str] = ()) -> list[Chapter]:
    """Return the chapters that the report has; some that are enabled may turn out not to be."""
    names = (name for name in STUDIES if getattr(config, name).enabled and name not in without)
    return [chapter_of(name, config) for name in names]


def explained_studies(config: Config) -> list[str]:
    """Return the studies whose drivers are profiled as they drive them, to say what costs them."""
    return [study for study in FIGURES if getattr(config, study).enabled]
