"""Fit bitrate against CPU, and judge limiter and bottleneck."""

from pathlib import Path

import pandas as pd

from copycost.records.files import read_json, write_json
from copycost.records.table import read_table
from copycost.snakefile.parts import make_part
from copycost.stats.settings import StatisticsSettings
from copycost.studies.cpu_budget.facts import compute_facts
from copycost.studies.cpu_budget.records import CPU_BUDGET


def _make() -> None:
    profile = snakemake.input.profile
    facts = compute_facts(
        read_table(Path(snakemake.input.table), CPU_BUDGET),
        snakemake.params.section,
        StatisticsSettings(**snakemake.params.statistics),
        pd.read_csv(snakemake.input.published),
        read_json(snakemake.input.host),
        read_json(profile) if profile else None,
        {
            name: read_json(path)
            for name, path in zip(snakemake.params.peers, snakemake.input.peers, strict=True)
        },
    )
    write_json(facts, snakemake.output.facts)


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
