"""Account for the losses, and fit what a datagram costs."""

from pathlib import Path

import pandas as pd

from copycost.records.files import write_json
from copycost.records.table import read_table
from copycost.snakefile.parts import make_part
from copycost.stats.settings import StatisticsSettings
from copycost.studies.datagrams.facts import compute_facts
from copycost.studies.datagrams.records import DATAGRAMS


def _make() -> None:
    facts = compute_facts(
        read_table(Path(snakemake.input.table), DATAGRAMS),
        snakemake.params.section,
        StatisticsSettings(**snakemake.params.statistics),
        pd.read_csv(snakemake.input.published),
    )
    write_json(facts, snakemake.output.facts)


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
