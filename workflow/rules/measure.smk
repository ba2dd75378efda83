# Measuring: one job per repetition of a cell, one JSON record each.

RAW_STREAMS = f"{RAW_ROOT}/streams/{CELL_PATTERN}.json"


rule save_config:
    input:
        code=package_files("config.py"),
    output:
        config="results/config.yaml",
    log:
        "results/logs/save_config.log",
    params:
        config=CONFIG.as_dict(),
    script:
        "../scripts/save_config.py"


rule run_cell:
    input:
        sender="results/bin/sender_{implementation}",
        receiver="results/bin/receiver",
        host="results/host.json",
    output:
        record=RAW_STREAMS,
    log:
        f"results/logs/run_cell/streams/{CELL_PATTERN}.log",
    priority:
        lambda wildcards: cell_priority(
            Cell.from_words("streams", **wildcards), CONFIG.measure.order_seed
        )
    # All cores, so that nothing else runs beside a measurement.
    threads: workflow.cores
    params:
        # What decides what is measured: an edit measures everything again, so no more than that. A
        # digest, since twenty more inputs of each of thousands of jobs take Snakemake long.
        code=entry.digest_of(package_files("measure", "testbed")),
        settings=CONFIG.measure.settings().as_params(),
    script:
        "../scripts/run_cell.py"
