# Figures of one testbed. Each is drawn from the tables; only its own module, and what all figures
# share, makes it be drawn again.
from copycost.figures.names import FIGURES, figure_code


rule plot_figure:
    input:
        cells="results/tables/cells.parquet",
        summary="results/tables/summary.csv",
        ratios="results/tables/ratios.csv",
        code=lambda wildcards: package_files(*figure_code(wildcards.figure)),
    output:
        svg="results/figures/{testbed}/{figure}.svg",
        png="results/figures/{testbed}/{figure}.png",
        csv="results/figures/{testbed}/{figure}.csv",
    log:
        "results/logs/figures/{testbed}/{figure}.log",
    wildcard_constraints:
        figure="|".join(FIGURES),
    message:
        "Draw {wildcards.figure} of {wildcards.testbed}"
    script:
        "../scripts/plot_figure.py"
