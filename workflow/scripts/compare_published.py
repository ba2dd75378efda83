from pathlib import Path

from copycost.audit.published_chapter import compare_published
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
given = snakemake.input
compare_published(
    Path(given.facts),
    Path(given.summary),
    Path(given.published[0]).parent,
    Path(snakemake.output.beside).parent,
)
