"""Compile one of the C programs."""

from pathlib import Path

from copycost.build.toolchain import compile_program
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
wildcards = snakemake.wildcards
compile_program(
    snakemake.params.program,
    wildcards.get("strategy") or wildcards.get("receiver"),
    Path(snakemake.output.program),
    root=Path(),
    static=bool(wildcards.get("linked")),
)
