"""Lay simulated counts beside measured ones."""

from pathlib import Path

import pandas as pd

from copycost.records.files import read_json, write_json
from copycost.records.table import read_table
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.simulated.facts import beside_facts
from copycost.studies.simulated.table import FUNCTIONS, SIMULATED

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    given = snakemake.input
    facts = read_json(given.facts)
    facts["beside"] = beside_facts(
        read_table(Path(given.table), SIMULATED),
        read_table(Path(given.functions), FUNCTIONS),
        pd.read_csv(given.summary),
    )
    write_json(facts, snakemake.output.facts)
