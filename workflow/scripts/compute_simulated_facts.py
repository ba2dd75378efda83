"""Say which level of the simulated caches saves what, where and why."""

from pathlib import Path

from copycost.records.files import read_json, write_json
from copycost.records.table import read_table
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.simulated.facts import compute_facts
from copycost.studies.simulated.reading import machine_of
from copycost.studies.simulated.table import FUNCTIONS, SIMULATED

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    given = snakemake.input
    facts = compute_facts(
        read_table(Path(given.table), SIMULATED),
        read_table(Path(given.functions), FUNCTIONS),
        snakemake.params.section,
        machine_of(map(Path, given.records)),
        read_json(given.walks),
    )
    write_json(facts, snakemake.output.facts)
