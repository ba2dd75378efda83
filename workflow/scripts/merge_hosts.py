import sys
from pathlib import Path

from copycost.compare.hosts.host_results import FLEET
from copycost.compare.hosts.merge_command import merge_all, report
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
sources = [(None, Path(archive)) for archive in snakemake.input.archives]
if snakemake.params.local:
    sources.append((None, Path("results")))
# All of them are our own: where one is another now, it has changed.
if merge_all(sources, FLEET, update=True):
    sys.exit("copycost: not all hosts could be merged; see above")
report(FLEET, ["html", "pdf"])
