"""Settle what guests are made of, boot one and describe it."""

from pathlib import Path

from copycost.cli.doctor import collect_guest
from copycost.config.config import Virtual
from copycost.config.structure import from_plain
from copycost.records.files import read_json, write_json
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
given = snakemake.input
made = read_json(given.made)
virtual = from_plain(snakemake.params.virtual, Virtual)
guest = collect_guest(virtual, made, Path(given.kernel), Path(given.initrd))
write_json(guest, snakemake.output.guest)
