# Other hosts: each node of a cluster measured by one job, which runs the ordinary workflow there; and
# the report over all hosts. `./run fleet`, or snakemake --profile workflow/profiles/slurm fleet.
from copycost.snakefile.slurm import (
    chosen_nodes,
    host_name,
    in_site_partition,
    job_minutes,
    node_of,
    time_limit_of,
)

NODE_ARCHIVE = "results/nodes/{node}.zip"
HOSTS = in_site_partition(
    CONFIG.hosts, workflow.resource_settings.default_resources or {}
)
NAMED_PARTITION = HOSTS.slurm.partition
PARTITION = {"slurm_partition": NAMED_PARTITION} if NAMED_PARTITION else {}


rule measure_node:
    input:
        config="results/config.yaml",
    output:
        archive=NODE_ARCHIVE,
    log:
        "results/logs/nodes/{node}.log",
    wildcard_constraints:
        node=r"[A-Za-z0-9][A-Za-z0-9._-]*",
    resources:
        **PARTITION,
        cpus_per_task=lambda wildcards: node_of(wildcards.node).n_cpus,
        # Else Snakemake asks for 1 GB, which is all that the job may then use of the node.
        mem_mb=lambda wildcards: node_of(wildcards.node).memory_mb,
        runtime=lambda wildcards: job_minutes(CONFIG, time_limit_of(NAMED_PARTITION)),
        slurm_extra=lambda wildcards: f"--nodelist={wildcards.node} --exclusive",
    params:
        # All of it, whatever is measured there.
        code=CODE_OF_DRIVERS,
        # With another one the node is measured again, as this machine would be.
        kernel=lambda wildcards: node_of(wildcards.node).kernel,
        name=lambda wildcards: host_name(wildcards.node),
        script=f"{workflow.basedir}/workflow/scripts/measure_node.sh",
    shell:
        # The script takes the shell's place: a signal that ends a shell would end the job before it.
        'exec {params.script:q} "$PWD" {params.name} "$PWD/{input.config}" "$PWD/{output.archive}" &> {log}'


rule merge_hosts:
    input:
        # Asked only where the fleet is wanted: it takes a cluster to answer.
        archives=lambda wildcards: expand(NODE_ARCHIVE, node=chosen_nodes(HOSTS)),
    output:
        report="results/fleet/report/report.html",
    log:
        "results/logs/fleet/merge.log",
    localrule: True
    params:
        # This machine's own results are taken as they are.
        local="local" in CONFIG.hosts.where,
    script:
        "../scripts/merge_hosts.py"


rule fleet:
    input:
        report=rules.merge_hosts.output.report,
    localrule: True
