from pathlib import Path

from copycost.figures.overviews import draw_overviews, read_facts
from copycost.logs import log_to_file

log_to_file(snakemake.log[0])

draw_overviews(
    read_facts(Path(snakemake.input.facts)),
    Path(snakemake.input.summary),
    [Path(curves) for curves in snakemake.input.curves],
    [Path(svg) for svg in snakemake.output.svg],
)
