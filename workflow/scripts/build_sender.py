"""Compile the sender of one strategy."""

from pathlib import Path

from copycost.logs import log_to_file
from copycost.toolchain import compile_program

log_to_file(snakemake.log[0])
compile_program(
    "sender",
    snakemake.wildcards.strategy,
    Path(snakemake.output.program),
    root=Path(),
)
