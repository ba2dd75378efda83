# The other machine of the testbeds `wire` and `wire_in`: every cell over the wire depends on the
# content of results/peer.json.
rule collect_peer:
    output:
        peer="results/peer.json",
    log:
        "results/logs/collect_peer.log",
    # Whatever it runs there, it must not disturb a measurement.
    threads: workflow.cores
    params:
        wire=CONFIG.as_dict()["wire"],
        identity=lambda wildcards: host_identity(),
    message:
        "Reach the other machine and collect what it is"
    script:
        "../scripts/collect_peer.py"
