"""Count one cell in a guest whose caches are simulated, and write its record."""

from functools import partial
from pathlib import Path

from copycost.config.cells import Cell
from copycost.config.simulated import Counting
from copycost.config.structure import from_plain
from copycost.records.files import read_json
from copycost.snakefile.logs import log_to_file
from copycost.studies.simulated.cell import count_cell
from copycost.studies.simulated.reading import SIMULATED

log_to_file(snakemake.log[0])
given = snakemake.input
path = Path(snakemake.output.record)
programs = {"sender": Path(given.sender)}
if given.receiver:
    programs["receiver"] = Path(given.receiver)
count = partial(
    count_cell,
    Cell.from_path(str(path)),
    from_plain(snakemake.params.counting, Counting),
    read_json(given.host),
    programs,
    Path(given.plugin),
    Path(given.guest),
)
SIMULATED.kind.write(SIMULATED.measured(path, count, lambda _: None), path)
