"""Choose the sizes that are added to the grid, and say which."""

from pathlib import Path

from copycost.analysis.refine import choose_sizes
from copycost.config.config import Config
from copycost.config.refined import added_paths, describe_added, write_added
from copycost.records.table import read_table
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import STREAMS, extend, say

log_to_file(snakemake.log[0])
config = Config.from_dict(snakemake.params.config)
added = choose_sizes(read_table(Path(snakemake.input.cells)), config)
write_added(added, Path(snakemake.output.added))
records = added_paths(added, config)
missing = sum(not Path(record).is_file() for record in records)
extend(missing, missing * STREAMS.expected_s(config.measure.warmup_s + config.measure.duration_s))
say(describe_added(added, len(records)))
