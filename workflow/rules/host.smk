# What the host is and what can be counted on it. Every cell depends on the content of this file.


rule collect_host:
    output:
        host="results/host.json",
    log:
        "results/logs/host.log",
    params:
        # Another kernel, processor or limit is another host: collect again, measure again.
        identity=lambda wildcards: host_identity(),
    script:
        "../scripts/collect_host.py"
