"""Draw the figures of all conditions."""

from pathlib import Path

from copycost.records.files import read_json
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.streams.overviews import draw_overviews

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    draw_overviews(
        read_json(snakemake.input.facts),
        Path(snakemake.input.summary),
        Path(snakemake.input.ratios),
        [Path(curves) for curves in snakemake.input.curves],
        [Path(svg) for svg in snakemake.output.svg],
    )
