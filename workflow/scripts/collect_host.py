"""Describe the host, and what can be measured and counted on it."""

from copycost.cli.doctor import collect_host
from copycost.records.files import write_json
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
write_json(collect_host(snakemake.params.identity), snakemake.output.host)
