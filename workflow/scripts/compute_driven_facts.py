"""Compute the facts of a CPU budget, or of datagrams."""

from pathlib import Path

import pandas as pd

from copycost.analysis.stats.settings import StatisticsSettings
from copycost.records.files import read_json, write_json
from copycost.records.table import read_table
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.cpu_budget import facts as cpu_budget
from copycost.studies.cpu_budget.records import CPU_BUDGET
from copycost.studies.datagrams import facts as datagrams
from copycost.studies.datagrams.records import DATAGRAMS

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    given, params = snakemake.input, snakemake.params
    told = (
        params.section,
        StatisticsSettings(**params.statistics),
        pd.read_csv(given.published),
    )
    if snakemake.wildcards.driven == "datagrams":
        facts = datagrams.compute_facts(read_table(Path(given.table), DATAGRAMS), *told)
    else:
        facts = cpu_budget.compute_facts(
            read_table(Path(given.table), CPU_BUDGET),
            *told,
            host=read_json(given.host),
            profile=read_json(given.profile) if given.profile else None,
            peers=dict(zip(params.peers, map(read_json, given.peers), strict=True)),
        )
    write_json(facts, snakemake.output.facts)
