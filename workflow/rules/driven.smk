# What a driver of ours or iperf3 measures: what bitrate a CPU budget buys, and UDP datagrams: bitrate,
# loss and its causes, cost. Chapters of the report where they are enabled.
#
#   snakemake --cores 1 cpu_budget datagrams
from copycost.config.studies import CPU_BUDGET, DATAGRAMS as DATAGRAM_STUDY

BUDGET_RECORDS = [cell.path for cell in CONFIG.cpu_budget.cells()]
BUDGET_PEERS = sorted(
    {peer_of(cell.testbed) for cell in CONFIG.cpu_budget.cells()} - {None}
)
BUDGET = chapters.chapter_of(CPU_BUDGET, CONFIG)
DATAGRAM_RECORDS = [cell.path for cell in CONFIG.datagrams.cells()]
DATAGRAMS = chapters.chapter_of(DATAGRAM_STUDY, CONFIG)
DRIVEN_RECORDS = {
    CPU_BUDGET: BUDGET_RECORDS,
    DATAGRAM_STUDY: DATAGRAM_RECORDS,
}
# What the facts are computed from besides the table.
DRIVEN_FACTS_FROM = {
    CPU_BUDGET: {
        "published": "data/published/cpu-overhead-tcp.csv",
        "host": "results/host.json",
        # function shares, where they were measured too, say what more streams cost
        "profile": PROFILE_FACTS,
        # how many CPUs other machines have
        "peers": [f"results/peers/{name}.json" for name in BUDGET_PEERS],
    },
    DATAGRAM_STUDY: {"published": "data/published/cpu-overhead-udp.csv"},
}


rule run_budget:
    input:
        sender=sender_of,
        receiver=receiver_of,
        host="results/host.json",
        peer=facts_elsewhere,
    output:
        record=record_pattern(CPU_BUDGET),
    log:
        f"results/logs/run_budget/{pattern_of(CPU_BUDGET)}.log",
    priority: lambda wildcards: cell_priority(Cell.from_words(CPU_BUDGET, **wildcards), ORDER_SEED)
    # All cores, so that nothing else runs beside a measurement.
    threads: workflow.cores
    params:
        code=CODE_OF_DRIVERS,
        settings=CONFIG.cpu_budget.settings(CONFIG.measure.settings()).as_params(),
    script:
        "../scripts/run_driven.py"


use rule run_budget as run_datagrams with:
    output:
        record=record_pattern(DATAGRAM_STUDY),
    log:
        f"results/logs/run_datagrams/{pattern_of(DATAGRAM_STUDY)}.log",
    priority:
        lambda wildcards: cell_priority(
            Cell.from_words(DATAGRAM_STUDY, **wildcards), ORDER_SEED
        )
    params:
        code=CODE_OF_DRIVERS,
        settings=CONFIG.datagrams.settings(CONFIG.measure.settings()).as_params(),


rule collect_driven:
    input:
        records=lambda wildcards: DRIVEN_RECORDS[wildcards.driven],
    output:
        table="results/tables/{driven}.csv",
    log:
        "results/logs/tables/{driven}.log",
    wildcard_constraints:
        driven="|".join(DRIVEN_RECORDS),
    script:
        "../scripts/collect_driven.py"


rule compute_driven_facts:
    input:
        unpack(lambda wildcards: DRIVEN_FACTS_FROM[wildcards.driven]),
        table=rules.collect_driven.output.table,
    output:
        facts="results/{driven}/facts.json",
    log:
        "results/logs/{driven}/facts.log",
    wildcard_constraints:
        driven="|".join(DRIVEN_RECORDS),
    params:
        section=lambda wildcards: CONFIG.as_dict()[wildcards.driven],
        statistics=ANALYSED["statistics"],
        peers=BUDGET_PEERS,
    script:
        "../scripts/compute_driven_facts.py"


rule cpu_budget:
    input:
        facts=BUDGET.facts,
        figures=[f"{figure}.svg" for figure in BUDGET.figures],
        records=BUDGET_RECORDS,


rule datagrams:
    input:
        facts=DATAGRAMS.facts,
        figures=[f"{figure}.svg" for figure in DATAGRAMS.figures],
        records=DATAGRAM_RECORDS,
