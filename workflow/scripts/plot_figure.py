from pathlib import Path

from copycost.figures.condition import draw
from copycost.figures.output import save
from copycost.figures.tables import read_tables
from copycost.snakefile.placeholder_outputs import made_or_left_out

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    given, out = snakemake.input, snakemake.output
    conditions = [Path(svg).parent.name for svg in out.svg]
    of_each = read_tables(conditions, Path(given.cells), Path(given.summary))
    for tables, svg in zip(of_each, out.svg, strict=True):
        drawn = draw(snakemake.wildcards.figure, tables)
        save(drawn, Path(svg))
