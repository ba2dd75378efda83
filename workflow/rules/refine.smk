# A second pass: sizes around crossovers that the first one leaves open. Only where the configuration
# asks for it; else the records are those of the grid, and none of this is wanted.
RECORDS = with_added_records(GRID.paths(), checkpoints, CONFIG)
STREAM_RECORDS = with_added_records(GRID.paths("streams"), checkpoints, CONFIG)
ADDED = [f"{ADDED_PATH}"] if CONFIG.refine.enabled else []


rule collect_first_pass:
    input:
        records=GRID.paths("streams"),
    output:
        csv="results/refine/first_pass.csv",
        parquet="results/refine/first_pass.parquet",
    log:
        "results/logs/refine/first_pass.log",
    message:
        "Collect the records of the grid as it is stated"
    script:
        "../scripts/collect_results.py"


checkpoint choose_sizes:
    input:
        cells=rules.collect_first_pass.output.parquet,
    output:
        added=f"{ADDED_PATH}",
    log:
        "results/logs/refine/choose_sizes.log",
    params:
        config=CONFIG.as_dict(),
    message:
        "Look for crossovers that more sizes would place"
    script:
        "../scripts/choose_sizes.py"
