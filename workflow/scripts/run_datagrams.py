"""Measure one repetition of the study of datagrams and write its record."""

import json
from pathlib import Path

from copycost.config.datagrams import DatagramCell
from copycost.config.driven import DrivenSettings
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.progress import DRIVEN, count_in, say
from copycost.studies.datagrams.repetition import measure_datagrams
from copycost.studies.driven.record import write
from copycost.studies.driven.telling import line_of
from copycost.wording.plurals import plural

log_to_file(snakemake.log[0])
cell = DatagramCell.from_path(snakemake.output.record)
programs = [snakemake.input.get(side) for side in ("sender", "receiver")]
record = measure_datagrams(
    cell,
    DrivenSettings.from_params(snakemake.params.settings),
    json.loads(Path(snakemake.input.host).read_text(encoding="utf-8")),
    programs=tuple(Path(program) for program in programs if program),
)
write(record, Path(snakemake.output.record))
what = f"{cell.testbed} {cell.driver} {cell.datagram_bytes} B {plural(cell.n_streams, 'stream')}"
say(count_in(line_of(what, record), DRIVEN, snakemake.params.settings))
