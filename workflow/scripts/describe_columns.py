from pathlib import Path

from copycost.records.files import write_whole
from copycost.snakefile.logs import log_to_file
from copycost.studies.data_dictionary import columns_csv

log_to_file(snakemake.log[0])
write_whole(columns_csv(), Path(snakemake.output.columns))
