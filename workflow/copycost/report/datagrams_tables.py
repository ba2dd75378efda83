"""The tables of the chapter on datagrams: columns, and rows in Markdown."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from copycost.grid.capabilities import IPERF3
from copycost.report import study_values
from copycost.report.guests_table import inside_and_outside
from copycost.report.markdown import Column, code, escape, slug
from copycost.report.results_table import NONE
from copycost.report.study_values import NOT_KNOWN, Form, curve_name, in_cell, with_variant
from copycost.wording.filters import cpu, exact_size, gbit, percent, significant, thousands
from copycost.wording.percent import NBSP

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]

_CPU = ("sender_cpu_percent", "receiver_cpu_percent")


def curve(found: Facts) -> Table:
    """Return what was sent, received and lost on one curve, a row per size."""
    titles = (
        "Size", "Sent [Gbit/s]", "Received [Gbit/s]", "Sent per s", "Lost", "Senders' CPU",
        "Receivers' CPU",
    )  # fmt: skip
    rows = [
        [
            exact_size(point["msg_bytes"]),
            in_cell(point["sent_bits_per_s"], "gbit"),
            in_cell(point["bits_per_s"], "gbit"),
            thousands(point["sent_per_s"]["median"]),
            in_cell(point["loss"], "percent"),
            cpu(point["sender_cpu_percent"]["median"]),
            cpu(point["receiver_cpu_percent"]["median"]),
        ]
        for point in found["points"]
    ]
    return [Column(title, "right") for title in titles], rows


def curve_id(found: Facts) -> str:
    """Return the id of the table of a curve."""
    parts = (found["testbed"], found["implementation"], found["n_threads"])
    return f"tbl-datagrams-{'-'.join(map(slug, parts))}"


def outside(found: Facts) -> Table:
    """Return what was used inside and outside the guests of a curve, a row per size and guest."""
    return inside_and_outside(
        found, "Size", lambda point: exact_size(point["msg_bytes"]), "{side}_cpu_percent"
    )


def published(facts: Facts) -> Table:
    """Return the published bitrates, losses and CPU use, each with those of this host."""
    columns = [
        Column("Scenario"),
        Column("Size", "right"),
        Column("Sent [Gbit/s]", "right"),
        Column("here", "right"),
        Column("Lost", "right"),
        Column("here", "right"),
        Column("CPU", "right"),
        Column("here", "right"),
        Column("Published note"),
    ]
    rows = [
        [
            escape(row["scenario"]),
            exact_size(row["msg_bytes"]),
            significant(row["tx_bitrate_gbps"]),
            _ours(row, facts, lambda point: gbit(point["sent_bits_per_s"]["median"])),
            f"{row['loss_percent']}{NBSP}%".replace("-", "\N{EN DASH}"),
            _ours(row, facts, _loss),
            _cpus(row[f"{end}_cpu_percent"] for end in ("client", "server")),
            _ours(row, facts, lambda point: _cpus(map(_medians(point).get, _CPU))),
            escape(row["note"]) if row["note"] else NONE,
        ]
        for row in facts["published"]
    ]
    return columns, rows


def _ours(row: Facts, facts: Facts, text: Callable[[Facts], str]) -> str:
    """Return something of each of our points that a published row is compared with."""
    found = [with_variant(text(point), point, facts["section"]) for point in row["ours"]]
    return "; ".join(found) or "not measured"


def _loss(point: Facts) -> str:
    return percent(point["loss"]["median"]) if point["loss"] else NOT_KNOWN


def _medians(point: Facts) -> dict[str, float | None]:
    return {name: point[name] and point[name]["median"] for name in _CPU}


def _cpus(used: Iterable[float | None]) -> str:
    """Return what senders and receivers used: ``95 % + 78 %``; a mark where that is not known."""
    return " + ".join(cpu(value) for value in used if value is not None) or NONE


def here(facts: Facts) -> Table:
    """Return this host's largest bitrates with iperf3; no row where it was not used."""
    columns = [
        Column("Here"),
        Column("Size", "right"),
        Column("Most sent [Gbit/s]", "right"),
        Column("Lost there", "right"),
    ]
    tops = [
        (found, found["maximum_sent"])
        for found in facts["curves"]
        if found["implementation"] == IPERF3
    ]
    rows = [
        [
            curve_name(found, facts["section"]),
            exact_size(top["msg_bytes"]),
            gbit(top["sent_bits_per_s"]["median"]),
            _loss(top),
        ]
        for found, top in tops
    ]
    return columns, rows


def losses(facts: Facts) -> Table:
    """Return what was not measured, a row per reason."""
    about: dict[str, tuple[str, Form]] = {
        "testbed": ("Testbed", code),
        "implementation": ("Implementation", str),
        "msg_bytes": ("Sizes", exact_size),
    }
    return study_values.losses_table(facts["losses"], about)
