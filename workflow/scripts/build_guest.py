"""Make what guests boot: a kernel, and a first file system with an agent."""

import json
from pathlib import Path

from copycost.hosts.guest.making import make_image
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
output, params = snakemake.output, snakemake.params
made = make_image(params.kernel, params.network_device, Path(output.kernel), Path(output.initrd))
Path(output.made).write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
