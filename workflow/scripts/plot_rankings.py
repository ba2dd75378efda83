"""Draw the rankings of all conditions."""

from pathlib import Path

from copycost.records.files import read_json
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.streams.overviews import draw_rankings

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    draw_rankings(read_json(snakemake.input.facts), [Path(svg) for svg in snakemake.output.svg])
