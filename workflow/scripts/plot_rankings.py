from pathlib import Path

from copycost.figures.overviews import draw_rankings, read_facts
from copycost.logs import log_to_file

log_to_file(snakemake.log[0])

draw_rankings(read_facts(Path(snakemake.input.facts)), [Path(svg) for svg in snakemake.output.svg])
