# From facts, tables and figures to the report. What it shows lies in its own folder, so that
# results/report can be moved, archived and typeset again anywhere.


rule write_report:
    input:
        facts="results/facts.json",
        config="results/config.yaml",  # which it names
        published="results/published/beside.json",
        published_figure="results/published/throughput.svg",
        figures=[f"{figure}.svg" for figure in REPORT_FIGURES],
        figure_tables=[f"{figure}.csv" for figure in REPORT_FIGURES],
        chapters=[chapter.facts for chapter in CHAPTERS],
        templates=report_files(workflow.basedir, "**/*.j2"),
        strategies=COMPARED,
        diagrams=report_files(workflow.basedir, "diagrams/*.svg"),
        styles=STYLES,
    output:
        qmd="results/report/report.qmd",
        numbers="results/report/numbers.csv",
        assets=directory("results/report/assets"),
    log:
        "results/logs/report/write.log",
    params:
        # Read where there is one, and no input: what is set aside is made again, and then the report.
        aside=ASIDE,
        title=CONFIG.report.title,
        chapters=[chapter.name for chapter in CHAPTERS],
        not_simulated=NOT_SIMULATED,
    script:
        "../scripts/write_report.py"


rule render_report:
    input:
        qmd="results/report/report.qmd",
        assets="results/report/assets",
    output:
        report(
            expand("results/report/report.{format}", format=CONFIG.report.formats),
            caption="../captions/report.rst",
            category="Report",
        ),
    log:
        "results/logs/report/render.log",
    params:
        formats=CONFIG.report.formats,
        typesetter=TYPESETTER,
    script:
        "../scripts/render_report.py"
