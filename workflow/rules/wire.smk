# The other machines of the testbeds over a wire: every cell with one depends on the content of its
# file.
from copycost.config.structure import to_plain

PEERS = {name: to_plain(peer) for name, peer in CONFIG.wire.peers().items()}


rule collect_peer:
    output:
        peer="results/peers/{peer}.json",
    log:
        "results/logs/collect_peer/{peer}.log",
    wildcard_constraints:
        peer="|".join(PEERS) or "none",
    # Whatever it runs there, it must not disturb a measurement.
    threads: workflow.cores
    params:
        peer=lambda wildcards: PEERS[wildcards.peer],
        identity=lambda wildcards: host_identity(),
    script:
        "../scripts/collect_peer.py"
