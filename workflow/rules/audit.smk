# Measurements that somebody else made, judged by the same engine as ours. Nothing here measures.
#
#   snakemake --cores 1 audit                                       the published runs
#   snakemake --cores 1 audit --config dataset=FILE.csv             any table; also: mapping, claims
from copycost.audit.request import audit_files
from copycost.report.files import report_files

AUDITED = audit_files(config, Path("data", "published"))


rule audit_dataset:
    input:
        unpack(lambda wildcards: AUDITED[wildcards.dataset].as_inputs()),
        templates=report_files(workflow.basedir, "**/*.j2"),
        style=report_files(workflow.basedir, "embedded/*"),
        code=package_files("audit", "analysis", "figures", "records", "report", "stats"),
    output:
        html="results/audit/{dataset}/report.html",
        pdf="results/audit/{dataset}/report.pdf",
        verdicts="results/audit/{dataset}/audit.json",
    log:
        "results/logs/audit/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(map(re.escape, AUDITED)),
    message:
        "Audit {wildcards.dataset}"
    script:
        "../scripts/audit_dataset.py"
