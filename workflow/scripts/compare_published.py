from pathlib import Path

from copycost.compare.published import compare_published
from copycost.snakefile.parts import make_part


def _make() -> None:
    given = snakemake.input
    compare_published(
        Path(given.facts),
        Path(given.summary),
        Path(given.published[0]).parent,
        Path(snakemake.output.beside).parent,
    )


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
