"""The table of what guests used inside and outside, for the chapters of all studies."""

from collections.abc import Mapping
from typing import Any

from copycost.hosts.side import SIDES
from copycost.report.markdown import Column
from copycost.report.study_values import NOT_KNOWN, cpu_range, curve_name
from copycost.wording.filters import cpu

Facts = Mapping[str, Any]


def inside_and_outside(facts: Facts) -> tuple[list[Column], list[list[str]]]:
    """Return a row per curve and guest: CPU from the least to the most of its points.

    Parameters
    ----------
    facts
        Of a study whose curves have `guests`, with the spans of `copycost.studies.guests.spans`.
    """
    titles = ("Processes", "Guest", "QEMU", "Overhead", "Waited at most")
    columns = [Column("Where"), Column("Guest of"), *(Column(title, "right") for title in titles)]
    rows = []
    for curve in facts["curves"]:
        for one in curve["guests"]["spans"] if curve["guests"] else ():
            of, waited = one["of"], one["most"]["vcpu_waiting"]
            inside = [cpu_range(of[side]) for side in SIDES if side in of]
            rows.append(
                [
                    curve_name(curve, facts["section"]),
                    "both" if curve["guests"]["shared"] else one["side"],
                    " + ".join(inside),
                    *(_known(of[name]) for name in ("guest", "hypervisor", "overhead")),
                    NOT_KNOWN if waited is None else cpu(waited),
                ]
            )
    return columns, rows


def _known(of: Facts | None) -> str:
    return NOT_KNOWN if of is None else cpu_range(of)
