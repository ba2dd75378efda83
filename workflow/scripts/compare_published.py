from pathlib import Path

from copycost.compare.published import compare_published
from copycost.snakefile.placeholder_outputs import made_or_left_out

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    given = snakemake.input
    compare_published(
        Path(given.facts),
        Path(given.summary),
        Path(given.published[0]).parent,
        Path(snakemake.output.beside).parent,
    )
