from pathlib import Path

from copycost.figures.output import save
from copycost.records.files import read_json
from copycost.snakefile.logs import log_to_file
from copycost.studies.datagrams.figures import draw

log_to_file(snakemake.log[0])
facts = read_json(snakemake.input.facts)
drawn = draw(snakemake.wildcards.name, facts)
save(drawn, Path(snakemake.output.svg), None, Path(snakemake.output.csv))
