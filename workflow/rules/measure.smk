# Measuring: one job per repetition of a cell, one JSON record each.

# What of the configuration a repetition depends on.
SETTINGS = {study: CONFIG.measure.settings(study).as_params() for study in STUDIES}
RAW_RECORD = f"{RAW_ROOT}/{CELL_PATTERN}.json"


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
        sender=entry.sender_of,
        receiver=entry.receiver_of,
        host="results/host.json",
    output:
        record=RAW_RECORD,
    log:
        f"results/logs/run_cell/{CELL_PATTERN}.log",
    priority:
        lambda wildcards: cell_priority(
            Cell.from_words(**wildcards), CONFIG.measure.order_seed
        )
    # All cores, so that nothing else runs beside a measurement.
    threads: workflow.cores
    params:
        # What decides what is measured: an edit measures everything again, so no more than that. A
        # digest, since twenty more inputs of each of thousands of jobs take Snakemake long.
        code=entry.digest_of(package_files("measure", "testbed")),
        settings=lambda wildcards: SETTINGS[wildcards.study],
    script:
        "../scripts/run_cell.py"
