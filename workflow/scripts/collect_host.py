"""Describe the host, and what can be measured and counted on it."""

from pathlib import Path

from copycost.doctor import collect_host, write_host
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
write_host(Path(snakemake.output.host), collect_host(snakemake.params.identity))
