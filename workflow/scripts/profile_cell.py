"""Profile one repetition of one cell: write its record and its folded stacks."""

import json
from pathlib import Path

from copycost.config.config import Settings
from copycost.grid.cells import Cell
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.profile_words import tell
from copycost.snakefile.progress import count_in, pace_of_profile, say
from copycost.studies.profile.folded import write_folded
from copycost.studies.profile.record import write_record
from copycost.studies.profile.repetition import Programs, profile_repetition

log_to_file(snakemake.log[0])
given, params = snakemake.input, snakemake.params
programs = Programs(
    Path(given.sender) if given.sender else None, Path(given.receiver) if given.receiver else None
)
profiled = profile_repetition(
    Cell.from_words("profile", **snakemake.wildcards),
    Settings.from_params(params.settings),
    json.loads(Path(given.host).read_text(encoding="utf-8")),
    programs,
    params.event,
    params.frequency_hz,
)
write_folded(profiled.stacks, Path(snakemake.output.folded))
write_record(profiled.record, Path(snakemake.output.record))
pace = pace_of_profile(snakemake.wildcards.implementation)
say(count_in(tell(profiled.record), pace, params.settings))
