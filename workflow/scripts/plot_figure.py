from pathlib import Path

from copycost.figures.output import draw, save
from copycost.figures.tables import read_tables
from copycost.logs import log_to_file

log_to_file(snakemake.log[0])

tables = read_tables(
    snakemake.wildcards.condition,
    Path(snakemake.input.cells),
    Path(snakemake.input.summary),
    Path(snakemake.input.ratios),
)
save(
    draw(snakemake.wildcards.figure, tables),
    Path(snakemake.output.svg),
    Path(snakemake.output.png),
    Path(snakemake.output.csv),
)
