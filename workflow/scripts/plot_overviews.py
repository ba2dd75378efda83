from pathlib import Path

from copycost.snakefile.logs import log_to_file
from copycost.studies.streams.overviews import draw_overviews, read_facts

log_to_file(snakemake.log[0])

draw_overviews(
    read_facts(Path(snakemake.input.facts)),
    Path(snakemake.input.summary),
    [Path(curves) for curves in snakemake.input.curves],
    [Path(svg) for svg in snakemake.output.svg],
)
