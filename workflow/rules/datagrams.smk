# UDP datagrams: bitrate, loss and its causes, cost. A chapter of the report where it is enabled.
#
#   snakemake --cores 1 datagrams
from copycost.config import datagrams as udp_section

DATAGRAM_RECORDS = [cell.path for cell in CONFIG.datagrams.cells()]
DATAGRAMS = chapters.datagrams_chapter(CONFIG)


rule run_datagrams:
    input:
        sender=sender_of,
        receiver=receiver_of,
        host="results/host.json",
        peer=facts_elsewhere,
    output:
        record=record_pattern(udp_section.STUDY),
    log:
        f"results/logs/run_datagrams/{pattern_of(udp_section.STUDY)}.log",
    priority:
        lambda wildcards: cell_priority(
            Cell.from_words(udp_section.STUDY, **wildcards), ORDER_SEED
        )
    # All cores, so that nothing else runs beside a measurement.
    threads: workflow.cores
    params:
        code=lambda wildcards: code_of_drivers(wildcards.testbed),
        settings=CONFIG.datagrams.settings(CONFIG.measure.settings()).as_params(),
    script:
        "../scripts/run_datagrams.py"


rule collect_datagrams:
    input:
        records=DATAGRAM_RECORDS,
    output:
        table="results/tables/datagrams.csv",
    log:
        "results/logs/tables/datagrams.log",
    message:
        "Collect the records of the datagrams"
    script:
        "../scripts/collect_datagrams.py"


rule compute_datagram_facts:
    input:
        table=rules.collect_datagrams.output.table,
        published="data/published/cpu-overhead-udp.csv",
        profile=PROFILE_FACTS,
    output:
        facts=DATAGRAMS.facts,
    log:
        "results/logs/datagrams/facts.log",
    params:
        section=CONFIG.as_dict()["datagrams"],
        statistics=CONFIG.as_dict()["statistics"],
    message:
        "Account for the datagrams"
    script:
        "../scripts/compute_datagram_facts.py"


rule draw_datagrams:
    input:
        facts=rules.compute_datagram_facts.output.facts,
    output:
        svg="results/figures/datagrams/{name}.svg",
        csv="results/figures/datagrams/{name}.csv",
    log:
        "results/logs/figures/datagrams/{name}.log",
    wildcard_constraints:
        name="|".join(udp_section.FIGURES),
    message:
        "Draw {wildcards.name} of the datagrams"
    script:
        "../scripts/draw_datagrams.py"


rule datagrams:
    input:
        facts=rules.compute_datagram_facts.output.facts,
        figures=[f"{figure}.svg" for figure in DATAGRAMS.figures],
        records=DATAGRAM_RECORDS,
