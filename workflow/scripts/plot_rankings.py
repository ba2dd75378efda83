"""Draw the rankings of all conditions."""

from pathlib import Path

from copycost.records.files import read_json
from copycost.snakefile.parts import make_part
from copycost.studies.streams.overviews import draw_rankings


def _make() -> None:
    draw_rankings(read_json(snakemake.input.facts), [Path(svg) for svg in snakemake.output.svg])


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
