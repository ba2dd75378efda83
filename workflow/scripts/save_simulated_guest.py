"""Boot a guest whose caches are to be simulated, and save it."""

from pathlib import Path

from copycost.config.simulated import Simulated
from copycost.config.structure import from_plain
from copycost.snakefile.logs import log_to_file
from copycost.studies.simulated.cell import make_guest

log_to_file(snakemake.log[0])
given, params = snakemake.input, snakemake.params
folder = Path(snakemake.output.guest)
folder.mkdir(parents=True)
make_guest(
    snakemake.wildcards.start,
    from_plain(params.section, Simulated),
    params.kernel,
    Path(given.orchestrator),
    [Path(name) for name in given.programs],
    Path(params.packages),
    folder,
)
