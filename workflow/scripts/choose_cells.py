"""Choose what is measured next, and say what."""

from collections import Counter
from pathlib import Path

from copycost.analysis.adaptive_sampling import choose_cells, describe
from copycost.config.config import Config
from copycost.config.grid import Grid, repetitions_in
from copycost.config.passes import write_pass
from copycost.records.reading import read_all
from copycost.records.record import cell_of
from copycost.snakefile.jobs import GRID_RULE, kind_of, repetition_s
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.telling import tell, tell_chosen
from copycost.studies.round_trips.table import row_of_grid

log_to_file(snakemake.log[0])
config = Config.from_dict(snakemake.params.config)
records = map(Path, snakemake.input.records)
done = dict(read_all(records, lambda record: (cell_of(record), row_of_grid(record))))
choice = choose_cells(done, config, int(snakemake.wildcards.number))
write_pass(choice.cells, Path(snakemake.output.cells))
window_s = config.measure.warmup_s + config.measure.duration_s
each_s = repetition_s(GRID_RULE, "", window_s, in_turns=True)
rounds = Grid.of(config).rounds
missing: Counter[str] = Counter()
for cell in choice.cells:
    if not Path(cell.path).is_file():
        words = {"study": cell.study, "testbed": cell.testbed}
        missing[kind_of(GRID_RULE, words)] += repetitions_in(config, cell, rounds)
tell_chosen(missing, each_s)
tell(describe(choice, done))
