"""The tables of what guests and their hypervisors used over the points of a study of iperf3."""

import re
from collections.abc import Mapping

import pandas as pd

from tools.recompute.document import Table
from tools.recompute.driven import POINT, named_rows
from tools.recompute.run import Run
from tools.recompute.slots import agrees, read

_PARTIES = {
    "Guest": "guest", "QEMU": "hypervisor", "virtual CPUs": "vcpu", "main loop": "io",
    "vhost": "vhost", "others": "worker", "overhead": "overhead", "waited": "vcpu_waiting",
}  # fmt: skip
_OF_COSTS = {
    "sender": "sender",
    "receiver": "receiver",
    "sender's guest": "sender_guest",
    "receiver's guest": "receiver_guest",
    "QEMU, sender's guest": "sender_hypervisor",
    "QEMU, receiver's guest": "receiver_hypervisor",
    "whole host": "host",
}
_CURVE = re.compile(r"`([\w-]+)` with (\d+) streams?(?: \(([^)]*)\))?")


def outside_row(
    run: Run, _c: str, _f: re.Match[str], row: Mapping[str, str], table: Table
) -> dict[str, bool]:
    """Check what was used inside and outside at one point: medians [% of one CPU]."""
    study = "cpu_budget" if "Offered" in row else "datagrams"
    curve = _CURVE.search(table.caption)
    assert curve is not None
    rows = named_rows(run.driven(study), curve[1], curve[2], curve[3] or "")
    sizes = sorted(rows["msg_bytes"].unique())
    offered = row.get("Offered")
    point = read("size", row["Size"], sizes) if offered is None else float(offered.split()[0])
    rows = rows[rows[POINT[study]] == point]
    shared = row["Guest of"] == "both"
    side = "sender" if shared else row["Guest of"]
    sides = ("sender", "receiver") if shared else (side,)
    told = row["Process"].split(" + ")
    used = [_percent(one, rows[name]) for one, name in zip(told, sides, strict=True)]
    parties = {title: f"{side}_{party}" for title, party in _PARTIES.items()} | {"Host": "host"}
    return {"Process": all(used)} | {
        title: _percent(row[title], rows[name]) for title, name in parties.items() if title in row
    }


def _percent(text: str, values: pd.Series) -> bool:
    """Tell whether a field shows the median; one that there is not is shown in words."""
    known = values.dropna()
    if known.empty:
        return not re.search(r"\d", text)
    return agrees("p", text, known.median() / 100.0)


def costs_row(
    run: Run, _c: str, _f: re.Match[str], row: Mapping[str, str], _t: Table
) -> dict[str, bool]:
    """Check what a byte cost one party at the highest bitrate of each curve [ns]."""
    checked = {}
    for title, text in row.items():
        curve = _CURVE.search(title)
        if curve is None or not re.search(r"\d", text):
            continue
        rows = named_rows(run.driven("cpu_budget"), curve[1], curve[2], curve[3] or "")
        top = rows.groupby("limit_percent")["bits_per_s"].median().idxmax()
        rows = rows[rows["limit_percent"] == top]
        costs = rows[_OF_COSTS[row["CPU time"]]] / 100.0 * 8e9 / rows["bits_per_s"]
        found = run.median_of(costs)
        middle, _, ends = text.partition(" ")
        interval = not ends or "wide" in ends or agrees("e", ends, found, run.settings.resampling)
        checked[title] = agrees("x", middle, found.value) and interval
    return checked
