"""Boot a guest whose caches are to be simulated, and save it."""

from pathlib import Path

from copycost.snakefile.logs import log_to_file
from copycost.studies.simulated.cell import make_guest

log_to_file(snakemake.log[0])
given, params = snakemake.input, snakemake.params
folder = Path(snakemake.output.guest)
folder.mkdir(parents=True)
make_guest(
    snakemake.wildcards.start,
    params.kernel,
    params.other_kernel,
    Path(given.orchestrator),
    [Path(name) for name in given.programs],
    Path(params.packages),
    folder,
)
