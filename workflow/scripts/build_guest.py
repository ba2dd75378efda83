"""Make what guests boot: a kernel, and a first file system with an agent."""

from pathlib import Path

from copycost.hosts.guest.build_image import make_image
from copycost.records.files import write_json
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
output, params = snakemake.output, snakemake.params
made = make_image(params.kernel, params.network_device, Path(output.kernel), Path(output.initrd))
write_json(made, output.made)
