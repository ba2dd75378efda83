from pathlib import Path

from copycost.logs import log_to_file
from copycost.report.assets import gather_assets
from copycost.report.context import Sources
from copycost.report.write import write_report

log_to_file(snakemake.log[0])
given = snakemake.input
figures = [Path(figure) for figure in given.figures]
gather_assets(
    [*figures, *map(Path, given.published_figures)],
    [Path(diagram) for diagram in given.diagrams],
    [Path(style) for style in given.styles],
    Path(snakemake.output.assets),
)
sources = Sources(
    facts=Path(given.facts),
    summary=Path(given.summary),
    ratios=Path(given.ratios),
    config=Path(given.config),
    figures=figures,
    published=Path(given.published),
)
qmd = Path(snakemake.output.qmd)
write_report(sources, Path("report"), snakemake.params.title, qmd)
