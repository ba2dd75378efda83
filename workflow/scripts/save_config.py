"""Save the configuration that the results come from."""

from pathlib import Path

import yaml

from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
text = yaml.safe_dump(snakemake.params.config, sort_keys=False, allow_unicode=True)
Path(snakemake.output.config).write_text(text, encoding="utf-8")
