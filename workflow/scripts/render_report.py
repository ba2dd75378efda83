from pathlib import Path

from copycost.report.render import render_report
from copycost.report.typesetter import Typesetter
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
outputs = [Path(output) for output in snakemake.output]
render_report(
    Path(snakemake.input.qmd),
    {output.suffix.removeprefix("."): output for output in outputs},
    Path(snakemake.input.style[0]).parent,
    Typesetter.from_params(snakemake.params.typesetter),
)
