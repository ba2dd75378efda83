"""Compile the receiver of one way to receive."""

from pathlib import Path

from copycost.logs import log_to_file
from copycost.toolchain import compile_program

log_to_file(snakemake.log[0])
compile_program(
    "receiver",
    snakemake.wildcards.receiver,
    Path(snakemake.output.program),
    root=Path(),
)
