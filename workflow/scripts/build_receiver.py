"""Compile the receiver."""

from pathlib import Path

from copycost.logs import log_to_file
from copycost.toolchain import compile_program, receivers

log_to_file(snakemake.log[0])
compile_program(
    "receiver",
    snakemake.wildcards.receiver if receivers(Path()) else None,
    Path(snakemake.output.program),
    root=Path(),
)
