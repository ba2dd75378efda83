"""Account for the losses, and fit what a datagram costs."""

import json
from pathlib import Path

import pandas as pd

from copycost.records.table import read_table
from copycost.snakefile.logs import log_to_file
from copycost.stats.settings import StatisticsSettings
from copycost.studies.datagrams.columns import DATAGRAMS
from copycost.studies.datagrams.facts import compute_facts

log_to_file(snakemake.log[0])
profile = snakemake.input.profile
facts = compute_facts(
    read_table(Path(snakemake.input.table), DATAGRAMS),
    snakemake.params.section,
    StatisticsSettings(**snakemake.params.statistics),
    pd.read_csv(snakemake.input.published),
    json.loads(Path(profile).read_text(encoding="utf-8")) if profile else None,
)
text = json.dumps(facts, indent=1, allow_nan=False)
Path(snakemake.output.facts).write_text(text + "\n", encoding="utf-8")
