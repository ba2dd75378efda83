"""Choose what is measured next, and say what."""

from pathlib import Path

from copycost.analysis.passes import choose_cells, describe
from copycost.config.config import Config
from copycost.config.passes import write_pass
from copycost.grid.cells import Cell
from copycost.records.derive import derive_row
from copycost.records.reading import read_all
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import STREAMS, extend, say

log_to_file(snakemake.log[0])
config = Config.from_dict(snakemake.params.config)
records = snakemake.input.records
rows = read_all(map(Path, records), derive_row)
done = dict(zip(map(Cell.from_path, records), rows, strict=True))
choice = choose_cells(done, config, int(snakemake.wildcards.number))
write_pass(choice.cells, Path(snakemake.output.cells))
missing = sum(not Path(cell.path).is_file() for cell in choice.cells)
extend(missing, missing * STREAMS.expected_s(config.measure.warmup_s + config.measure.duration_s))
say(describe(choice, done))
