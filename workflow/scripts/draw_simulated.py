import json
from pathlib import Path

from copycost.figures.output import save
from copycost.snakefile.logs import log_to_file
from copycost.studies.simulated.figures import draw

log_to_file(snakemake.log[0])
facts = json.loads(Path(snakemake.input.facts).read_text(encoding="utf-8"))
drawn = draw(snakemake.wildcards.name, facts)
save(drawn, Path(snakemake.output.svg), None, Path(snakemake.output.csv))
