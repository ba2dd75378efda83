"""Draw a figure of a study that has facts of its own."""

from pathlib import Path

from copycost.figures.output import save
from copycost.records.files import read_json
from copycost.snakefile.placeholder_outputs import made_or_left_out
from copycost.studies.cpu_budget.figures import draw_bitrate
from copycost.studies.datagrams.figures import draw
from copycost.studies.simulated.figures import draw_misses

with made_or_left_out(snakemake.log[0], snakemake.input, snakemake.output):
    study, name = snakemake.wildcards.drawn, snakemake.wildcards.name
    facts = read_json(snakemake.input.facts)
    if study == "cpu_budget":
        figure = draw_bitrate(facts)
    else:
        figure = draw_misses(facts) if study == "simulated" else draw(name, facts)
    save(figure, Path(snakemake.output.svg))
