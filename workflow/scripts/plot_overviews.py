"""Draw the figures of all conditions."""

from pathlib import Path

from copycost.records.files import read_json
from copycost.snakefile.logs import log_to_file
from copycost.studies.streams.overviews import draw_overviews

log_to_file(snakemake.log[0])

draw_overviews(
    read_json(snakemake.input.facts),
    Path(snakemake.input.summary),
    [Path(curves) for curves in snakemake.input.curves],
    [Path(svg) for svg in snakemake.output.svg],
)
