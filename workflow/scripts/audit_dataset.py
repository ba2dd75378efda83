from pathlib import Path

from copycost.compare.audit.command import audit_file
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
given = snakemake.input
audit_file(
    Path(given.dataset),
    Path(given.mapping) if "mapping" in given.keys() else None,  # noqa: SIM118 - no dict
    Path(given.claims) if "claims" in given.keys() else None,  # noqa: SIM118
    Path(snakemake.output.html).parent,
)
