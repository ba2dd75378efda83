# What bitrate a CPU budget buys. A chapter of the report where it is enabled.
#
#   snakemake --cores 1 cpu_budget
from copycost.config import cpu_budget as budget

BUDGET_RECORDS = [cell.path for cell in CONFIG.cpu_budget.cells()]
BUDGET_PEERS = sorted(
    {peer_of(cell.testbed) for cell in CONFIG.cpu_budget.cells()} - {None}
)
BUDGET = chapters.cpu_budget_chapter(CONFIG)


rule run_budget:
    input:
        sender=sender_of,
        receiver=receiver_of,
        host="results/host.json",
        peer=facts_elsewhere,
    output:
        record=record_pattern(budget.STUDY),
    log:
        f"results/logs/run_budget/{pattern_of(budget.STUDY)}.log",
    priority: lambda wildcards: cell_priority(Cell.from_words(budget.STUDY, **wildcards), ORDER_SEED)
    # All cores, so that nothing else runs beside a measurement.
    threads: workflow.cores
    params:
        code=lambda wildcards: code_of_drivers(wildcards.testbed),
        settings=CONFIG.cpu_budget.settings(CONFIG.measure.settings()).as_params(),
    script:
        "../scripts/run_budget.py"


rule collect_budget:
    input:
        records=BUDGET_RECORDS,
    output:
        table="results/tables/cpu_budget.csv",
    log:
        "results/logs/tables/cpu_budget.log",
    message:
        "Collect the records of the CPU budget"
    script:
        "../scripts/collect_budget.py"


rule compute_budget_facts:
    input:
        table=rules.collect_budget.output.table,
        host="results/host.json",
        published="data/published/cpu-overhead-tcp.csv",
        # function shares, where they were measured too, say what more streams cost
        profile=PROFILE_FACTS,
        # how many CPUs other machines have
        peers=[f"results/peers/{name}.json" for name in BUDGET_PEERS],
    output:
        facts=BUDGET.facts,
    log:
        "results/logs/cpu_budget/facts.log",
    params:
        section=CONFIG.as_dict()["cpu_budget"],
        statistics=CONFIG.as_dict()["statistics"],
        peers=BUDGET_PEERS,
    message:
        "Fit bitrate against CPU"
    script:
        "../scripts/compute_budget_facts.py"


rule draw_budget:
    input:
        facts=rules.compute_budget_facts.output.facts,
    output:
        svg="results/figures/cpu_budget/{name}.svg",
        csv="results/figures/cpu_budget/{name}.csv",
    log:
        "results/logs/figures/cpu_budget/{name}.log",
    wildcard_constraints:
        name="|".join(budget.FIGURES),
    message:
        "Draw {wildcards.name} of the CPU budget"
    script:
        "../scripts/draw_budget.py"


rule cpu_budget:
    input:
        facts=rules.compute_budget_facts.output.facts,
        figures=[f"{figure}.svg" for figure in BUDGET.figures],
        records=BUDGET_RECORDS,
