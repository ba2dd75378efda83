from pathlib import Path

from copycost.figures.output import save
from copycost.records.files import read_json
from copycost.snakefile.parts import make_part
from copycost.studies.cpu_budget.figures import draw_bitrate


def _make() -> None:
    facts = read_json(snakemake.input.facts)
    save(draw_bitrate(facts), Path(snakemake.output.svg))


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
