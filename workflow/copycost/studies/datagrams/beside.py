"""What stands beside the measured datagrams: the same without guests, and what was published."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import plain
from copycost.config.testbeds import without_guests
from copycost.records.cpu_attribution import EMULATED

# the testbed of ours for each published scenario, of one stream
_PUBLISHED_TESTBEDS = {
    "host-loopback": "loopback_udp",
    "vm-loopback": "vm_loopback_udp",
    "vm-to-vm": "vm_pair_udp",
}
# by which a size of ours may differ from the published one that it stands for
NEAR_SIZE = 0.01
_SAME = ("msg_bytes", "sent_bits_per_s", "loss", "sender_cpu_percent", "receiver_cpu_percent")


def other_packets(measured: pd.DataFrame) -> list[dict[str, Any]]:
    """Return where datagrams go in other packets in guests than without them.

    Of the largest datagram that was sent on both testbeds, the packets that it takes on either.
    """
    by_testbed = {str(name): rows for name, rows in measured.groupby("testbed", sort=False)}
    found = []
    for testbed, here in by_testbed.items():
        without = without_guests(testbed)
        there = by_testbed.get(without or "")
        if there is None:
            continue
        mtus = [set(rows["mtu_bytes"].dropna()) for rows in (here, there)]
        sizes = set(here["msg_bytes"]) & set(there["msg_bytes"])
        if not sizes or mtus[0] == mtus[1] or [len(one) for one in mtus] != [1, 1]:
            continue
        packets = [
            int(rows.loc[rows["msg_bytes"] == max(sizes), "packets_each"].max())
            for rows in (here, there)
        ]
        pair = {
            "condition": testbed,
            "without": without,
            "accelerator": EMULATED if (here["accelerator"] == EMULATED).any() else None,
            "msg_bytes": int(max(sizes)),
            "packets": packets[0],
            "without_packets": packets[1],
        }
        found.append(pair)
    return found


def with_published(
    curves: Sequence[Mapping[str, Any]], published: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the published rows, each with what was measured here of such datagrams.

    Those are the points of curves of one stream on the same kind of path, at the size nearest to
    the published one, which differs from it by `NEAR_SIZE` at most.
    """
    renamed = published.rename(columns={"datagram_bytes": "msg_bytes"})

    def ours(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        wanted = row["msg_bytes"]
        for curve in curves:
            same_path = curve["testbed"] == _PUBLISHED_TESTBEDS.get(row["scenario"])
            if same_path and curve["n_threads"] == 1:
                point = min(curve["points"], key=lambda one: abs(one["msg_bytes"] - wanted))
                if abs(point["msg_bytes"] - wanted) <= NEAR_SIZE * wanted:
                    naming = {key: curve[key] for key in ("testbed", "implementation", "emulated")}
                    yield naming | {key: point[key] for key in _SAME}

    return [{**row, "ours": list(ours(row))} for row in plain(renamed.to_dict(orient="records"))]
