"""Say which level of the simulated caches saves what, where and why."""

import json
from pathlib import Path

from copycost.records.table import read_table
from copycost.snakefile.logs import log_to_file
from copycost.studies.profile.functions import load_categories
from copycost.studies.simulated.columns import FUNCTIONS, SIMULATED
from copycost.studies.simulated.facts import compute_facts
from copycost.studies.simulated.record import machine_of

log_to_file(snakemake.log[0])
given = snakemake.input
facts = compute_facts(
    read_table(Path(given.table), SIMULATED),
    read_table(Path(given.functions), FUNCTIONS),
    snakemake.params.section,
    machine_of(map(Path, given.records)),
    load_categories(Path(given.categories).parent),
    json.loads(Path(given.walks).read_text(encoding="utf-8")),
)
text = json.dumps(facts, indent=1, allow_nan=False)
Path(snakemake.output.facts).write_text(text + "\n", encoding="utf-8")
