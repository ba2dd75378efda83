# Measurements that somebody else made, judged by the same engine as ours. Nothing here measures.
#
#   snakemake --cores 1 audit                                       the published runs
#   snakemake --cores 1 audit --config dataset=FILE.csv             any table; also: mapping, claims
from dataclasses import asdict

from copycost.config.audit_files import audit_files
from copycost.report import report_files
from copycost.build.typesetter import find_typesetter

AUDITED = audit_files(config, Path("data", "published"))

# What typesetting a report takes, besides its text.
STYLES = report_files(workflow.basedir, "style/*")

# Another typesetter, or another version of it, makes another report.
TYPESETTER = asdict(find_typesetter())


rule audit_dataset:
    input:
        unpack(lambda wildcards: AUDITED[wildcards.dataset]),
        strategies=ALL_STRATEGIES,
        templates=report_files(workflow.basedir, "**/*.j2"),
        words="report/audit_findings.csv",
        styles=STYLES,
    output:
        html="results/audit/{dataset}/report.html",
        pdf="results/audit/{dataset}/report.pdf",
        verdicts="results/audit/{dataset}/audit.json",
    log:
        "results/logs/audit/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(map(re.escape, AUDITED)),
    params:
        typesetter=TYPESETTER,
    script:
        "../scripts/audit_dataset.py"


rule compare_published:
    input:
        strategies=ALL_STRATEGIES,
        facts="results/facts.json",
        summary="results/tables/summary.csv",
        published=sorted(str(path) for path in Path("data", "published").iterdir()),
    output:
        beside="results/published/beside.json",
        figure="results/published/throughput.svg",
        table="results/published/throughput.csv",
    log:
        "results/logs/published/compare.log",
    script:
        "../scripts/compare_published.py"
