from pathlib import Path

from copycost.build.typesetter import Typesetter
from copycost.report.render import render_report
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
render_report(
    Path(snakemake.input.qmd),
    snakemake.params.formats,
    Typesetter.from_params(snakemake.params.typesetter),
)
