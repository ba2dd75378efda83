"""What a cell needs, as inputs of the rules that measure: our programs, and other machines."""

from typing import Any

from copycost.grid.capabilities import IPERF3, split_implementation
from copycost.grid.conditions import RECV
from copycost.grid.testbeds import guests_on, peer_of, receives_on


def sender_of(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that sends in a cell, none where iperf3, one of the host's, does.

    The batch is an option of it.
    """
    if wildcards.implementation == IPERF3:
        return []
    return f"results/bin/sender_{split_implementation(wildcards.implementation)[0]}"


def receiver_of(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that receives in a cell, none where iperf3 does, or nobody."""
    if wildcards.implementation == IPERF3 or not receives_on(wildcards.testbed):
        return []
    return f"results/bin/receiver_{wildcards.get('receiver', RECV)}"


def facts_elsewhere(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return what describes the machine of sides that run elsewhere, none where both are here."""
    if guests_on(wildcards.testbed):
        return "results/guest.json"
    peer = peer_of(wildcards.testbed)
    return [] if peer is None else f"results/peers/{peer}.json"
