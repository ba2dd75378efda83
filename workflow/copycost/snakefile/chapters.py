"""The studies that have a chapter of the report to themselves, as values made of the configuration.

The report has the chapter of a study where the configuration enables it, and nowhere else: what
was asked for beside the report, or measured once, cannot be seen by a job that runs elsewhere.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from copycost.config import cpu_budget, datagrams, simulated
from copycost.config.config import Config
from copycost.errors import Unavailable
from copycost.studies.profile.grid import cell_keys, figure_names
from copycost.studies.simulated.wanted import require_wanted


@dataclass(frozen=True, slots=True)
class Chapter:
    """What a study gives to the report.

    Its name, which its section of the configuration and its template have too; the path of the file
    with its numbers and verdicts; and those of its figures, without suffix.
    """

    name: str
    facts: str
    figures: tuple[str, ...]


def profile_chapter(config: Config) -> Chapter:
    """Return the chapter on the functions that the CPU time goes to."""
    keys = cell_keys(config, explained_studies(config))
    return _chapter("profile", figure_names(keys))


def cpu_budget_chapter(_config: Config) -> Chapter:
    """Return the chapter on the bitrate that a CPU budget buys."""
    return _chapter("cpu_budget", cpu_budget.FIGURES)


def simulated_chapter(_config: Config) -> Chapter:
    """Return the chapter on simulated counts."""
    return replace(_chapter("simulated", simulated.FIGURES), facts="results/simulated/report.json")


def datagrams_chapter(_config: Config) -> Chapter:
    """Return the chapter on UDP datagrams."""
    return _chapter("datagrams", datagrams.FIGURES)


CHAPTERS: dict[str, Callable[[Config], Chapter]] = {
    "profile": profile_chapter,
    "cpu_budget": cpu_budget_chapter,
    "datagrams": datagrams_chapter,
    "simulated": simulated_chapter,
}
"""In the order of the report; each is a target too, which measures the study in any case."""


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
    return [
        of(config)
        for name, of in CHAPTERS.items()
        if getattr(config, name).enabled and name not in without
    ]


def explained_studies(config: Config) -> list[str]:
    """Return the studies whose drivers are profiled as they drive them, to say what costs them."""
    return [study for study in ("cpu_budget", "datagrams") if getattr(config, study).enabled]


def _chapter(name: str, figures: list[str] | tuple[str, ...]) -> Chapter:
    paths = tuple(f"results/figures/{name}/{figure}" for figure in figures)
    return Chapter(name, f"results/{name}/facts.json", paths)
