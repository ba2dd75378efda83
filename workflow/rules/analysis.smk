# From the cells table to summary, comparisons and facts. Nothing here measures.

# All of it with one confidence, which allows for how rounds were chosen.
ANALYSED = analysed(CONFIG).as_dict()


rule summarise_cells:
    input:
        cells="results/tables/cells.parquet",
    output:
        summary=shown_table("results/tables/summary.csv"),
        quality=shown_table("results/tables/quality.csv"),
    log:
        "results/logs/tables/summary.log",
    params:
        statistics=ANALYSED["statistics"],
    script:
        "../scripts/summarise_cells.py"


rule compare_cells:
    input:
        cells="results/tables/cells.parquet",
    output:
        ratios=shown_table("results/tables/ratios.csv"),
    log:
        "results/logs/tables/ratios.log",
    params:
        statistics=ANALYSED["statistics"],
    script:
        "../scripts/compare_cells.py"


# Of those that the configuration names, the other machines that streams are measured with, in the
# order of the report. What they are is not handed on.
MEASURED_WITH = [
    peer
    for peer in dict.fromkeys(
        peer_of(condition.testbed) for condition in GRID.conditions if not is_given()
    )
    if peer is not None
]


rule compute_facts:
    input:
        cells="results/tables/cells.parquet",
        summary=rules.summarise_cells.output.summary,
        ratios=rules.compare_cells.output.ratios,
        host="results/host.json",
        memory=MEMORY,
        round_trips=ROUND_TRIPS,
        # what guests are made of, where a condition has any
        guest=(
            ["results/guest.json"]
            if any(condition.guests for condition in GRID.conditions)
            and not is_given()
            else []
        ),
        # the other machines, where a condition is over the network to one
        peers=[f"results/peers/{name}.json" for name in MEASURED_WITH],
        strategies=COMPARED,
    output:
        facts="results/facts.json",
        findings=shown_table("results/tables/findings.csv"),
    log:
        "results/logs/facts.log",
    params:
        config=ANALYSED,
        peers=MEASURED_WITH,
    script:
        "../scripts/compute_facts.py"
