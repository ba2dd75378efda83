"""Compile the receiver of one way to receive."""

from pathlib import Path

from copycost.build.toolchain import compile_program
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
compile_program(
    "receiver",
    snakemake.wildcards.receiver,
    Path(snakemake.output.program),
    root=Path(),
    static=bool(snakemake.wildcards.linked),
)
