# Counts that a model of the caches gives: guests are booted and saved once, and each cell runs in a
# copy. A chapter of the report where it is enabled. No time is measured, so several cells may run at
# once, and beside anything but a measurement.
#
#   snakemake --cores 1 simulated
from copycost.config import simulated as simulated_section
from copycost.config.structure import to_plain
from copycost.config.testbeds import receives_on
from copycost.config.simulation_variants import VARIANTS, start_of
from copycost.hosts.guest.build_image import guest_identity

SIMULATED_CELLS = CONFIG.simulated.cells()
SIMULATED_RECORDS = [cell.path for cell in SIMULATED_CELLS]
SIMULATED_PROGRAMS = sorted(
    {f"results/bin/sender_{cell.strategy}" for cell in SIMULATED_CELLS}
    | {
        "results/bin/receiver_recv"
        for cell in SIMULATED_CELLS
        if receives_on(cell.testbed)
    }
)
SIMULATED = chapters.chapter_of("simulated", CONFIG)
SIMULATED_GUEST = "results/simulated/guests/{start}"


rule save_simulated_guest:
    input:
        orchestrator="results/bin/simulated_cell",
        programs=[*SIMULATED_PROGRAMS, "results/bin/simulated_walk"],
        # What can be sent how is looked up in these.
        strategies=[
            f"src/strategies/{split_implementation(name)[0]}.c"
            for name in CONFIG.simulated.implementations
        ],
    output:
        # what cells begin with, some 100 MB; booted again where it is needed again
        guest=temp(directory(SIMULATED_GUEST)),
    log:
        "results/logs/save_simulated_guest/{start}.log",
    wildcard_constraints:
        start="|".join(VARIANTS),
    params:
        kernel=CONFIG.virtual.kernel,
        other_kernel=CONFIG.simulated.sensitivity.kernel,
        packages="results/guest/packages",
        # What is in it is the host's: other programs make another guest.
        identity=lambda wildcards: guest_identity(),
    script:
        "../scripts/save_simulated_guest.py"


rule count_simulated:
    input:
        sender=sender_of,
        receiver=receiver_of,
        plugin="results/bin/simulated_plugin",
        guest=lambda wildcards: SIMULATED_GUEST.format(
            start=start_of(wildcards.variant)
        ),
        host="results/host.json",
    output:
        record=record_pattern(simulated_section.STUDY),
    log:
        f"results/logs/count_simulated/{pattern_of(simulated_section.STUDY)}.log",
    params:
        counting=to_plain(CONFIG.simulated.counting()),
    script:
        "../scripts/count_simulated.py"


rule walk_simulated:
    input:
        program="results/bin/simulated_walk",
        plugin="results/bin/simulated_plugin",
        guest=SIMULATED_GUEST.format(start="plain"),
    output:
        walks="results/simulated/walks.json",
    log:
        "results/logs/walk_simulated.log",
    script:
        "../scripts/walk_simulated.py"


rule collect_simulated:
    input:
        records=SIMULATED_RECORDS,
        functions="data/functions/categories.yaml",
    output:
        table="results/tables/simulated.csv",
        functions="results/tables/simulated_functions.csv",
    log:
        "results/logs/tables/simulated.log",
    script:
        "../scripts/collect_simulated.py"


rule compute_simulated_facts:
    input:
        records=SIMULATED_RECORDS,
        table=rules.collect_simulated.output.table,
        functions=rules.collect_simulated.output.functions,
        walks=rules.walk_simulated.output.walks,
    output:
        facts="results/simulated/facts.json",
    log:
        "results/logs/simulated/facts.log",
    params:
        section=CONFIG.as_dict()["simulated"],
    script:
        "../scripts/compute_simulated_facts.py"


# What the report says of them has what was measured beside it, which the target alone does not take.
rule compare_simulated:
    input:
        facts=rules.compute_simulated_facts.output.facts,
        table=rules.collect_simulated.output.table,
        functions=rules.collect_simulated.output.functions,
        summary="results/tables/summary.csv",
    output:
        facts=SIMULATED.facts,
    log:
        "results/logs/simulated/report.log",
    script:
        "../scripts/compare_simulated.py"


rule simulated:
    input:
        facts=rules.compute_simulated_facts.output.facts,
        figures=[f"{figure}.svg" for figure in SIMULATED.figures],
        records=SIMULATED_RECORDS,
