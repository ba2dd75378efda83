"""Draw the flame graphs of all profiles."""

from pathlib import Path

from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.profile.flame import draw_all
from copycost.studies.profile.functions import load_categories
from copycost.studies.profile.tables import read_repetitions

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    repetitions = read_repetitions(map(Path, snakemake.input.records))
    categories = load_categories(Path(snakemake.input.categories).parent)
    draw_all(repetitions, categories, Path(snakemake.output.figures[0]).parent)
