"""What a cell needs, as inputs of the rules that measure: our programs, and other machines."""

from typing import Any

from copycost.config.conditions import RECV
from copycost.config.strategy_capabilities import IPERF3, split_implementation
from copycost.config.testbeds import away_on, guests_on, peer_of, receives_on

STATIC = "static/"
"""The folder, below that of the programs, of those with their libraries in them.

What is brought to another machine has to run there whatever C library that has, and whether it has
liburing. A guest has the libraries of this host.
"""


def sender_of(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that sends in a cell, none where iperf3, one of the host's, does.

    The batch is an option of it.
    """
    return sender_at(wildcards.implementation, wildcards.testbed)


def sender_at(implementation: str | None, testbed: str) -> str | list[str]:
    """Return the same of an implementation on a testbed; none for none."""
    if implementation is None or implementation == IPERF3:
        return []
    return f"{_folder('sender', testbed)}sender_{split_implementation(implementation)[0]}"


def receiver_of(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that receives in a cell, none where iperf3 does, or nobody."""
    if wildcards.implementation == IPERF3 or not receives_on(wildcards.testbed):
        return []
    receiver = wildcards.get("receiver", RECV)
    return f"{_folder('receiver', wildcards.testbed)}receiver_{receiver}"


def _folder(side: str, testbed: str) -> str:
    brought = peer_of(testbed) is not None and side in away_on(testbed)
    return f"results/bin/{STATIC if brought else ''}"


def facts_elsewhere(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return what describes the machine of sides that run elsewhere, none where both are here."""
    if guests_on(wildcards.testbed):
        return "results/guest.json"
    peer = peer_of(wildcards.testbed)
    return [] if peer is None else f"results/peers/{peer}.json"
