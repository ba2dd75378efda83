"""The programs of ours that a driven cell needs, as inputs of its rule."""

from typing import Any

from copycost.iperf3 import IPERF3


def programs_of(wildcards: Any) -> dict[str, Any]:  # noqa: ANN401 - Snakemake's wildcards
    """Return the paths of sender and receiver; none where iperf3, one of the host's, drives."""
    if wildcards.driver == IPERF3:
        return {"sender": [], "receiver": []}
    return {
        "sender": f"results/bin/sender_{wildcards.driver}",
        "receiver": "results/bin/receiver_recv",
    }
