from pathlib import Path

from copycost.compare.published import render_comparison
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
render_comparison(
    Path(snakemake.input.beside),
    "Compared with published runs",
    "This host and published runs",
    ["html", "pdf"],
)
