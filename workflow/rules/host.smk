# What the host is and what can be counted on it. Every cell depends on the content of this file.

# The doctor only shows facts, so it is not among the files that make them be collected again.
HOST_CODE = [
    f"{workflow.basedir}/workflow/copycost/hostinfo/{module}.py"
    for module in (
        "collect",
        "cpu",
        "files",
        "kernel",
        "net",
        "perf_events",
        "processor",
        "testbed_probe",
        "testbeds",
        "virtualisation",
    )
]


rule collect_host:
    input:
        code=HOST_CODE,
    output:
        host="results/host.json",
    log:
        "results/logs/host.log",
    params:
        # Another kernel, processor or limit is another host: collect again, measure again.
        identity=HOST_IDENTITY,
    message:
        "Collect what this host is and what can be counted on it"
    script:
        "../scripts/collect_host.py"
