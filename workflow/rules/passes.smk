# Passes behind the grid: more where comparisons are open, and sizes between two that disagree. Only
# where the configuration gives them time; else the records are those of the grid and all of it is static.
from copycost.config.passes import PASS_PATTERN, all_records, records_before


# Waits for the pass: as long as it is to be done, Snakemake takes an exception from here as an answer.
def chosen_by(number):
    return checkpoints.choose_cells.get(number=number).output.cells


RECORDS = all_records(GRID, CONFIG, None, chosen_by)
STREAM_RECORDS = all_records(GRID, CONFIG, "streams", chosen_by)
ROUND_TRIP_RECORDS = all_records(GRID, CONFIG, "round_trips", chosen_by)


checkpoint choose_cells:
    input:
        records=lambda wildcards: records_before(GRID, int(wildcards.number), chosen_by),
        strategies=COMPARED,
    output:
        cells=PASS_PATTERN,
    log:
        "results/logs/choose_cells/{number}.log",
    wildcard_constraints:
        number=r"[1-9]\d*",
    params:
        config=CONFIG.as_dict(),
    script:
        "../scripts/choose_cells.py"
