from pathlib import Path

from copycost.analysis.columns import write_table
from copycost.analysis.quality_table import quality_table
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import summarise
from copycost.records.table import read_table
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
settings = StatisticsSettings(**snakemake.params.statistics)
cells = read_table(Path(snakemake.input.cells))
write_table(summarise(cells, settings), Path(snakemake.output.summary))
write_table(quality_table(cells), Path(snakemake.output.quality))
