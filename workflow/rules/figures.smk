# Figures: those of one condition from the tables; rankings and overviews from the facts.
from copycost.figures import FIGURES, RANKING

CONDITIONS = [condition.slug for condition in GRID.conditions]

RANKINGS = expand(
    "results/figures/{condition}/{figure}", condition=CONDITIONS, figure=[RANKING]
)

OVERVIEW_FIGURES = [
    f"results/figures/all/{name}"
    for name, asked_for in (
        ("answer", True),
        ("memory_floor", MEMORY),
        ("round_trips", ROUND_TRIPS),
        ("virtual_machines", any(condition.guests for condition in GRID.conditions)),
        ("over_wire", any(is_wire(condition.testbed) for condition in GRID.conditions)),
    )
    if asked_for
]

# All figures of the report, without suffix.
REPORT_FIGURES = [
    *expand(
        "results/figures/{condition}/{figure}", condition=CONDITIONS, figure=FIGURES
    ),
    *RANKINGS,
    *OVERVIEW_FIGURES,
    *[figure for chapter in CHAPTERS for figure in chapter.figures],
]


# One job draws a figure of all conditions: loading what draws takes as long as drawing.
rule plot_figure:
    input:
        cells="results/tables/cells.parquet",
        summary="results/tables/summary.csv",
    output:
        svg=report(
            [f"results/figures/{name}/{{figure}}.svg" for name in CONDITIONS],
            caption="../captions/figures.rst",
            category="Figures",
            subcategory="{figure}",
        ),
        csv=[f"results/figures/{name}/{{figure}}.csv" for name in CONDITIONS],
    log:
        "results/logs/figures/{figure}.log",
    wildcard_constraints:
        figure="|".join(FIGURES),
    script:
        "../scripts/plot_figure.py"


rule plot_rankings:
    input:
        facts="results/facts.json",
    output:
        svg=expand("{figure}.svg", figure=RANKINGS),
        csv=expand("{figure}.csv", figure=RANKINGS),
    log:
        "results/logs/figures/rankings.log",
    script:
        "../scripts/plot_rankings.py"


rule plot_overviews:
    input:
        facts="results/facts.json",
        summary="results/tables/summary.csv",
        ratios="results/tables/ratios.csv",
        curves=ROUND_TRIP_CURVES,
        strategies=COMPARED,
    output:
        svg=expand("{figure}.svg", figure=OVERVIEW_FIGURES),
        csv=expand("{figure}.csv", figure=OVERVIEW_FIGURES),
    log:
        "results/logs/figures/overviews.log",
    script:
        "../scripts/plot_overviews.py"


rule draw_study:
    input:
        facts="results/{drawn}/facts.json",
    output:
        svg="results/figures/{drawn}/{name}.svg",
        csv="results/figures/{drawn}/{name}.csv",
    log:
        "results/logs/figures/{drawn}/{name}.log",
    wildcard_constraints:
        drawn="cpu_budget|datagrams|simulated",
        name=r"[a-z_]+",
    script:
        "../scripts/draw_study.py"
