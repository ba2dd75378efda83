"""Compile the program that measures what a plain copy of memory costs."""

from pathlib import Path

from copycost.build.toolchain import compile_program
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
compile_program("memory_floor", None, Path(snakemake.output.program), root=Path())
