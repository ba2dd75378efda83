"""The table of what guests used inside and outside, for the chapters of all studies."""

from collections.abc import Callable, Mapping
from typing import Any

from copycost.records.columns import SIDES
from copycost.report.markdown import Column
from copycost.report.study_values import NOT_KNOWN
from copycost.wording.filters import cpu

Facts = Mapping[str, Any]

_KINDS = {"vcpu": "virtual CPUs", "io": "main loop", "vhost": "vhost", "worker": "others"}
# a kind of threads that never used as much has no column [% of one CPU]
_LEAST_PERCENT = 0.05


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
    guests, points = curve["guests"], curve["points"]
    kinds = [
        kind
        for kind in _KINDS
        if any(
            point["parties"][f"{side}_{kind}"]["median"] >= _LEAST_PERCENT
            for point in points
            for side in guests["sides"]
        )
    ]
    titles = ["Process", "Guest", "QEMU", *(_KINDS[kind] for kind in kinds), "overhead", "waited"]
    columns = [
        Column(title, "right"),
        Column("Guest of"),
        *(Column(words, "right") for words in titles),
        Column("Host", "right"),
    ]
    rows = []
    for point in points:
        for side in guests["sides"]:
            of_guest = SIDES if guests["shared"] else [side]
            processes = [cpu(point[inside.format(side=one)]["median"]) for one in of_guest]
            parties = ("guest", "hypervisor", *kinds, "overhead", "vcpu_waiting")
            rows.append(
                [
                    label(point),
                    "both" if guests["shared"] else side,
                    " + ".join(processes),
                    *(_cpu(point, f"{side}_{party}") for party in parties),
                    _cpu(point, "host"),
                ]
            )
    return columns, rows


def _cpu(point: Facts, party: str) -> str:
    found = point["parties"].get(party)
    return NOT_KNOWN if found is None else cpu(found["median"])
