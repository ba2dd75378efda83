# Function chains: which functions the CPU time goes to. Records of their own, since sampling
# disturbs; a chapter of the report where it is enabled.
#
#   snakemake --cores 1 profile
from copycost.studies.profile.columns import SHARE_TABLES
from copycost.studies.profile.grid import STUDY, profile_cells

PROFILE = chapters.chapter_of(STUDY, CONFIG)
# For rules that use function shares: nothing where the configuration does not ask for them.
PROFILE_FACTS = PROFILE.facts if CONFIG.profile.enabled else []
PROFILE_CELLS = profile_cells(CONFIG, chapters.explained_studies(CONFIG))
PROFILE_RECORDS = [cell.path for cell in PROFILE_CELLS]
PROFILE_PATTERN = pattern_of(STUDY)
# What of the section decides what the records are made into; not how they are made.
PROFILE_SECTION = CONFIG.as_dict()["profile"]
# What each cell is profiled in turns with.
paired = lambda wildcards: reference_of(CONFIG, Cell.from_words(STUDY, **wildcards))


rule profile_cell:
    input:
        sender=sender_of,
        receiver=receiver_of,
        reference=lambda wildcards: sender_at(paired(wildcards), wildcards.testbed),
        host="results/host.json",
        peer=facts_elsewhere,
    output:
        record=f"{RAW_ROOT}/{PROFILE_PATTERN}.json",
        folded=f"{RAW_ROOT}/{PROFILE_PATTERN}.folded.gz",
    log:
        f"results/logs/profile_cell/{PROFILE_PATTERN}.log",
    priority: lambda wildcards: cell_priority(Cell.from_words(STUDY, **wildcards), ORDER_SEED)
    # All cores, so that nothing else runs beside a measurement.
    threads: workflow.cores
    params:
        code=CODE_OF_DRIVERS,
        settings=CONFIG.profile.settings(CONFIG.measure.settings()).as_params(),
        event=CONFIG.profile.event,
        frequency_hz=CONFIG.profile.frequency_hz,
        reference=paired,
    script:
        "../scripts/profile_cell.py"


rule collect_profile:
    input:
        records=PROFILE_RECORDS,
        folded=[
            f"{record.removesuffix('.json')}.folded.gz" for record in PROFILE_RECORDS
        ],
        lists=sorted(str(path) for path in Path("data", "functions").glob("*.yaml")),
        published="data/published/function-shares.csv",
    output:
        facts=PROFILE.facts,
        tables=[f"results/tables/{name}.csv" for name in SHARE_TABLES],
    log:
        "results/logs/profile/collect.log",
    params:
        profile=PROFILE_SECTION,
        statistics=ANALYSED["statistics"],
    script:
        "../scripts/collect_profile.py"


rule draw_profile:
    input:
        records=PROFILE_RECORDS,
        folded=rules.collect_profile.input.folded,
        categories="data/functions/categories.yaml",
    output:
        figures=[f"{figure}.svg" for figure in PROFILE.figures],
        tables=[f"{figure}.csv" for figure in PROFILE.figures],
    log:
        "results/logs/profile/draw.log",
    script:
        "../scripts/draw_profile.py"


rule profile:
    input:
        facts=rules.collect_profile.output.facts,
        tables=rules.collect_profile.output.tables,
        figures=rules.draw_profile.output.figures,
        records=PROFILE_RECORDS,
