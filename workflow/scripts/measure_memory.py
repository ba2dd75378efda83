"""Measure what a plain copy of memory costs on this host."""

from functools import partial
from pathlib import Path

from copycost.config.settings import AUTO
from copycost.records.files import read_json
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.telling import tell
from copycost.studies.memory.floor import measure_memory
from copycost.studies.memory.record import MEMORY

log_to_file(snakemake.log[0])
cpus = snakemake.params.cpus
measure = partial(
    measure_memory,
    Path(snakemake.input.program),
    read_json(snakemake.input.host),
    sender_cpus=None if cpus == AUTO else [int(cpu) for cpu in cpus],
)
path = Path(snakemake.output.memory)
record = MEMORY.measured(path, measure, lambda _: None)
MEMORY.kind.write(record, path)
tell(f"memory floor: {record['status']}" + (f": {record['reason']}" if record["reason"] else ""))
