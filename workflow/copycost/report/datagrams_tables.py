"""The tables of the chapter on datagrams: columns, and rows in Markdown."""

from collections.abc import Mapping
from typing import Any

from copycost.grid.capabilities import IPERF3
from copycost.report import study_values
from copycost.report.guests_table import inside_and_outside
from copycost.report.markdown import Column, code, escape, slug
from copycost.report.study_values import NOT_KNOWN, Form, curve_name, in_cell
from copycost.wording.filters import cpu, exact_size, gbit, percent, significant, thousands
from copycost.wording.percent import NBSP

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]


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
    """Return the published bitrates and losses."""
    columns = [
        Column("Scenario"),
        Column("Size", "right"),
        Column("Sent [Gbit/s]", "right"),
        Column("Lost", "right"),
    ]
    rows = [
        [
            escape(row["scenario"]),
            exact_size(row["msg_bytes"]),
            significant(row["tx_bitrate_gbps"]),
            f"{row['loss_percent']}{NBSP}%".replace("-", "\N{EN DASH}"),
        ]
        for row in facts["published"]
    ]
    return columns, rows


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
            percent(top["loss"]["median"]) if top["loss"] else NOT_KNOWN,
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
