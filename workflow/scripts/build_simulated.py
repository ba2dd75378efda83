"""Compile one of the programs of simulated counts."""

from pathlib import Path

from copycost.build.toolchain import compile_program
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
program = snakemake.wildcards.program
compile_program(program, None, Path(snakemake.output.program), root=Path())
