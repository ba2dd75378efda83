from pathlib import Path

from copycost.build.typesetter import Typesetter
from copycost.report.typeset import NotTypeset, render_report
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.placeholder_outputs import note_missing

log_to_file(snakemake.log[0])
missing = {}
try:
    render_report(
        Path(snakemake.input.qmd),
        snakemake.params.formats,
        Typesetter(**snakemake.params.typesetter),
    )
except NotTypeset as error:
    missing = error.missing
note_missing(snakemake.log[0], snakemake.output, missing)
