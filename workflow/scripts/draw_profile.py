"""Draw the flame graphs of all profiles."""

from pathlib import Path

from copycost.snakefile.parts import make_part
from copycost.studies.profile.flame import draw_all
from copycost.studies.profile.functions import load_categories
from copycost.studies.profile.tables import read_repetitions


def _make() -> None:
    repetitions = read_repetitions(map(Path, snakemake.input.records))
    categories = load_categories(Path(snakemake.input.categories).parent)
    draw_all(repetitions, categories, Path(snakemake.output.figures[0]).parent)


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
