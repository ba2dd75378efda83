"""Check the simulated caches by walks whose misses are known."""

from pathlib import Path

from copycost.records.files import write_json
from copycost.snakefile.logs import log_to_file
from copycost.studies.simulated.walks import walk_all

log_to_file(snakemake.log[0])
given = snakemake.input
found = walk_all(Path(given.program), Path(given.plugin), Path(given.guest))
write_json(found, snakemake.output.walks)
