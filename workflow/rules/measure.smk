# Measuring: a job measures what repetitions of a cell belong together, and their file is named by the
# first of them; and once, what memory costs.

# What of the configuration a repetition depends on.
SETTINGS = {study: CONFIG.measure.settings(study).as_params() for study in STUDIES}
ORDER_SEED = CONFIG.measure.order_seed
# What decides what is measured: an edit measures everything again, so these rooms and no more. As
# digests, since a hundred more inputs of each of thousands of jobs take Snakemake long.
_ROOMS = ["hosts/**/*", "measure/*", "observers/**/*"]
CODE_OF_PROGRAMS = digest_of(*_ROOMS, "measure/drivers/*", "measure/drivers/programs/*")
CODE_OF_DRIVERS = digest_of(*_ROOMS, "measure/drivers/**/*")
# What each cell is measured in turns with.
beside = lambda wildcards: reference_of(CONFIG, Cell.from_words(**wildcards))
# Two studies in one rule: they differ in their settings alone.
RAW_PATTERN = pattern_of("streams").replace("streams/", "{study}/", 1)
RAW_RECORD = f"{RAW_ROOT}/{RAW_PATTERN}.json"

# For rules that use what memory costs: nothing where the configuration does not ask for it.
MEMORY = ["results/memory.json"] if CONFIG.measure.memory_floor else []


rule save_config:
    output:
        config="results/config.yaml",
    log:
        "results/logs/save_config.log",
    localrule: True
    params:
        config=CONFIG.as_dict(),
    script:
        "../scripts/save_config.py"


rule run_cell:
    input:
        sender=sender_of,
        receiver=receiver_of,
        reference=lambda wildcards: sender_at(beside(wildcards), wildcards.testbed),
        host="results/host.json",
        peer=facts_elsewhere,
    output:
        record=RAW_RECORD,
    log:
        f"results/logs/run_cell/{RAW_PATTERN}.log",
    wildcard_constraints:
        study="streams|round_trips",
    priority: lambda wildcards: cell_priority(Cell.from_words(**wildcards), ORDER_SEED)
    # All cores, so that nothing else runs beside a measurement.
    threads: workflow.cores
    params:
        code=CODE_OF_PROGRAMS,
        settings=lambda wildcards: SETTINGS[wildcards.study],
        reference=beside,
        repetitions=lambda wildcards: repetitions_in(
            CONFIG, Cell.from_words(**wildcards), GRID.rounds
        ),
    script:
        "../scripts/run_cell.py"


rule measure_memory:
    input:
        program="results/bin/memory_floor",
        host="results/host.json",
    output:
        memory="results/memory.json",
    log:
        "results/logs/measure_memory.log",
    threads: workflow.cores
    params:
        cpus=CONFIG.as_dict()["measure"]["cpus"]["sender"],
    script:
        "../scripts/measure_memory.py"
