"""Lay simulated counts beside measured ones."""

import json
from pathlib import Path

import pandas as pd

from copycost.records.table import read_table
from copycost.snakefile.logs import log_to_file
from copycost.studies.simulated.beside import beside_facts
from copycost.studies.simulated.columns import FUNCTIONS, SIMULATED

log_to_file(snakemake.log[0])
given = snakemake.input
facts = json.loads(Path(given.facts).read_text(encoding="utf-8"))
facts["beside"] = beside_facts(
    read_table(Path(given.table), SIMULATED),
    read_table(Path(given.functions), FUNCTIONS),
    pd.read_csv(given.summary),
    facts["line_bytes"],
)
text = json.dumps(facts, indent=1, allow_nan=False)
Path(snakemake.output.facts).write_text(text + "\n", encoding="utf-8")
