"""Draw the rankings of all conditions."""

from pathlib import Path

from copycost.records.files import read_json
from copycost.snakefile.logs import log_to_file
from copycost.studies.streams.overviews import draw_rankings

log_to_file(snakemake.log[0])

draw_rankings(read_json(snakemake.input.facts), [Path(svg) for svg in snakemake.output.svg])
