"""Which of our programs a cell needs, as inputs of the rules that measure."""

from typing import Any

from copycost.grid.capabilities import IPERF3, SENDER_ONLY_TESTBED, split_implementation


def sender_of(wildcards: Any) -> str:  # noqa: ANN401 - Snakemake's
    """Return the program that sends in a cell; the batch is an option of it."""
    return f"results/bin/sender_{split_implementation(wildcards.implementation)[0]}"


def receiver_of(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that receives in a cell, none where nobody does."""
    if wildcards.testbed == SENDER_ONLY_TESTBED:
        return []
    return f"results/bin/receiver_{wildcards.receiver}"


def programs_of(wildcards: Any) -> dict[str, Any]:  # noqa: ANN401 - Snakemake's
    """Return the paths of sender and receiver; none where iperf3, one of the host's, drives."""
    if wildcards.driver == IPERF3:
        return {"sender": [], "receiver": []}
    return {
        "sender": f"results/bin/sender_{wildcards.driver}",
        "receiver": "results/bin/receiver_recv",
    }
