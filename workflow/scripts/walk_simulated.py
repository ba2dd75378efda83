"""Check the simulated caches by walks whose misses are known."""

import json
from pathlib import Path

from copycost.snakefile.logs import log_to_file
from copycost.studies.simulated.walking import walk_all

log_to_file(snakemake.log[0])
given = snakemake.input
found = walk_all(Path(given.program), Path(given.plugin), Path(given.guest))
text = json.dumps(found, indent=1, allow_nan=False)
Path(snakemake.output.walks).write_text(text + "\n", encoding="utf-8")
