from pathlib import Path

from copycost.figures.output import save
from copycost.records.files import read_json
from copycost.snakefile.parts import make_part
from copycost.studies.datagrams.figures import draw


def _make() -> None:
    facts = read_json(snakemake.input.facts)
    drawn = draw(snakemake.wildcards.name, facts)
    save(drawn, Path(snakemake.output.svg))


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
