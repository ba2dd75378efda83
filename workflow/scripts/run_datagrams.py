"""Measure one repetition of the study of datagrams and write its record."""

import json
from pathlib import Path

from copycost.datagrams.repetition import measure_datagrams
from copycost.datagrams.section import DatagramCell
from copycost.driven.record import write
from copycost.driven.section import DrivenSettings
from copycost.driven.telling import line_of
from copycost.driven.words import streams
from copycost.logs import log_to_file
from copycost.progress import DRIVEN, count_in, say

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
what = f"{cell.testbed} {cell.driver} {cell.datagram_bytes} B {streams(cell.n_streams)}"
say(count_in(line_of(what, record), DRIVEN, snakemake.params.settings))
