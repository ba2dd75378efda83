"""Choose what is measured next, and say what."""

from collections import Counter
from pathlib import Path

from copycost.analysis.passes import choose_cells, describe
from copycost.config.config import Config
from copycost.config.passes import write_pass
from copycost.grid.cells import Cell
from copycost.records.derive import derive_row
from copycost.records.reading import read_all
from copycost.snakefile.jobs import GRID_RULE, kind_of
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import STREAMS, Kind, extend, say

log_to_file(snakemake.log[0])
config = Config.from_dict(snakemake.params.config)
records = snakemake.input.records
rows = read_all(map(Path, records), derive_row)
done = dict(zip(map(Cell.from_path, records), rows, strict=True))
choice = choose_cells(done, config, int(snakemake.wildcards.number))
write_pass(choice.cells, Path(snakemake.output.cells))
each_s = STREAMS.expected_s(config.measure.warmup_s + config.measure.duration_s)
missing = Counter(
    kind_of(GRID_RULE, {name: getattr(cell, name) for name in ("study", "testbed", "working_set")})
    for cell in choice.cells
    if not Path(cell.path).is_file()
)
extend({kind: Kind(n, each_s) for kind, n in missing.items()})
say(describe(choice, done))
