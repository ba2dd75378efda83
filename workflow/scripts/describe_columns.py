from pathlib import Path

from copycost.records.files import write_whole
from copycost.report.columns import columns_csv
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
write_whole(columns_csv(), Path(snakemake.output.columns))
