from pathlib import Path

from copycost.report.assets import gather_assets
from copycost.report.write import Sources, write_report
from copycost.snakefile.logs import log_to_file
from copycost.snakefile.placeholder_outputs import note_missing

log_to_file(snakemake.log[0])
given, out = snakemake.input, snakemake.output
figures, diagrams, strategies, chapters = (
    [Path(name) for name in names]
    for names in (given.figures, given.diagrams, given.strategies, given.chapters)
)
gather_assets([*figures, Path(given.published_figure)], diagrams, Path("report"), Path(out.assets))
sources = Sources(
    facts=Path(given.facts),
    published=Path(given.published),
    figures=figures,
    chapters=dict(zip(snakemake.params.chapters, chapters, strict=True)),
    strategies=strategies,
    diagrams=diagrams,
    aside=Path(snakemake.params.aside),
    not_simulated=snakemake.params.not_simulated,
)
missing = write_report(sources, Path("report"), snakemake.params.title, Path(out.qmd))
note_missing(snakemake.log[0], [out.qmd], missing)
