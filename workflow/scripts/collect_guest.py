"""Settle what guests are made of, boot one and describe it."""

import json
from pathlib import Path

from copycost.config.structure import from_plain
from copycost.config.virtual import Virtual
from copycost.doctor import collect_guest, write_host
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
given = snakemake.input
made = json.loads(Path(given.made).read_text(encoding="utf-8"))
virtual = from_plain(snakemake.params.virtual, Virtual)
guest = collect_guest(virtual, made, Path(given.kernel), Path(given.initrd))
write_host(Path(snakemake.output.guest), guest)
