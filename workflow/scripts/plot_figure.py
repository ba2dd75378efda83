from pathlib import Path

from copycost.figures.output import draw, save
from copycost.figures.tables import read_tables
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])

given, out = snakemake.input, snakemake.output
for svg, png, csv in zip(out.svg, out.png, out.csv, strict=True):
    tables = read_tables(
        Path(svg).parent.name, Path(given.cells), Path(given.summary), Path(given.ratios)
    )
    drawn = draw(snakemake.wildcards.figure, tables)
    save(drawn, Path(svg), Path(png), Path(csv))
