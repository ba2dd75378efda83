"""Collect all profiles: the tables of shares, and the facts of the chapter."""

from pathlib import Path

from copycost.analysis.stats.settings import StatisticsSettings
from copycost.config.structure import from_plain
from copycost.config.studies import Profile
from copycost.records.files import write_json
from copycost.records.table import write_table
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.profile.columns import SHARES
from copycost.studies.profile.facts import profile_facts
from copycost.studies.profile.functions import load_lists
from copycost.studies.profile.tables import read_repetitions, share_table

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    settings = StatisticsSettings(**snakemake.params.statistics)
    profile = from_plain(snakemake.params.profile, Profile)
    lists = load_lists(Path("data"))
    repetitions = read_repetitions(map(Path, snakemake.input.records))
    for path in map(Path, snakemake.output.tables):
        table = share_table(path.stem, repetitions, lists, settings)
        write_table(table, path, None, SHARES[path.stem])
    facts = profile_facts(repetitions, profile, lists, settings)
    write_json(facts, snakemake.output.facts)
