"""The table of what guests used inside and outside, for the chapters of all studies."""

from collections.abc import Callable, Mapping
from typing import Any

from copycost.records.columns import SIDES
from copycost.report.markdown import Column
from copycost.wording.filters import cpu

Facts = Mapping[str, Any]

_THREADS = {
    "vcpu": "virtual CPUs",
    "io": "main loop, I/O",
    "vhost": "vhost",
    "worker": "others",
    "overhead": "beyond the guest",
}


def inside_and_outside(
    curve: Facts, title: str, label: Callable[[Facts], str], inside: str = "{side}"
) -> tuple[list[Column], list[list[str]]]:
    """Return columns and rows [% of one CPU, medians], a row per point and guest of a curve.

    Parameters
    ----------
    title, label
        Of the first column: its title, and what it says of a point.
    inside
        The key of a point at which it has what a side used.
    """
    columns = [
        Column(title, "right"),
        Column("Guest of"),
        Column("Process", "right"),
        Column("Guest", "right"),
        Column("QEMU", "right"),
        *(Column(words, "right") for words in _THREADS.values()),
        Column("Host", "right"),
    ]
    shared = curve["guests"]["shared"]
    rows = []
    for point in curve["points"]:
        for side in curve["guests"]["sides"]:
            processes = [
                cpu(point[inside.format(side=one)]["median"])
                for one in (SIDES if shared else [side])
            ]
            parties = ("guest", "hypervisor", *_THREADS)
            used = [cpu(point["parties"][f"{side}_{party}"]["median"]) for party in parties]
            rows.append(
                [
                    label(point),
                    "both" if shared else side,
                    " + ".join(processes),
                    *used,
                    cpu(point["parties"]["host"]["median"]),
                ]
            )
    return columns, rows
