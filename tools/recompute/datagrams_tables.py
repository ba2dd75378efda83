"""The tables of the study of datagrams: what was sent, received, lost, and published."""

import re
from collections.abc import Iterable

import pandas as pd

from tools.recompute.document import Table
from tools.recompute.driven import SIDES, curves
from tools.recompute.driven_tables import (
    HERE,
    INSIDE,
    Checked,
    Row,
    each_shows,
    published,
    rows_of,
    shows_cpu,
    shows_estimate,
)
from tools.recompute.run import Run
from tools.recompute.slots import agrees, percent_agrees, read


def datagrams_row(run: Run, _c: str, _f: re.Match[str], row: Row, table: Table) -> Checked:
    """Check what was sent, received and lost at one size of a curve."""
    rows = rows_of(run, "datagrams", table.caption)
    size = read("size", row["Size"], sorted(rows["msg_bytes"].unique()))
    of = rows[rows["msg_bytes"] == size]
    shares = of["lost"] / of["sent"]
    lost = run.median_of(shares)
    if lost.value > 0.5:
        lost = run.median_of(1 - shares).rest()
    per_s = float((of["sent_bits_per_s"] / 8.0 / size).median())
    return {
        "Size": len(of) > 0,
        "Sent [Gbit/s]": shows_estimate(
            run, row["Sent [Gbit/s]"], run.median_of(of["sent_bits_per_s"]), 1e9
        ),
        "Received [Gbit/s]": shows_estimate(
            run, row["Received [Gbit/s]"], run.median_of(of["bits_per_s"]), 1e9
        ),
        "Sent per s": agrees("x", row["Sent per s"], per_s),
        "Lost": percent_agrees(row["Lost"], lost.within(1.0), run.settings.resampling, share=True),
        "Senders' CPU": shows_cpu(row["Senders' CPU"], of["sender"].median()),
        "Receivers' CPU": shows_cpu(row["Receivers' CPU"], of["receiver"].median()),
    }


def published_datagrams_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check a published bitrate, loss and CPU use, and ours next to it."""
    rows = published("udp")
    size = int(row["Size"].removesuffix(" B").replace(",", ""))
    found = rows[(rows["scenario"] == row["Scenario"]) & (rows["datagram_bytes"] == size)]
    there = found.iloc[0]
    used = [there[f"{end}_cpu_percent"] for end in INSIDE.values()]
    ours = _our_datagrams(run, row["Scenario"], size)

    def sent(text: str, rows: pd.DataFrame) -> bool:
        return agrees("x", text, rows["sent_bits_per_s"].median() / 1e9)

    def lost(text: str, rows: pd.DataFrame) -> bool:
        return agrees("p", text, float((rows["lost"] / rows["sent"]).median()))

    def cpu(text: str, rows: pd.DataFrame) -> bool:
        return _cpus(text, [rows[side].median() for side in SIDES])

    return {
        "Size": True,
        "Sent [Gbit/s]": agrees("x", row["Sent [Gbit/s]"], there["tx_bitrate_gbps"]),
        "here": each_shows(row["here"], ours, sent),
        "Lost": row["Lost"] == f"{there['loss_percent']} %".replace("-", "\N{EN DASH}"),
        "Lost, here": each_shows(row["Lost, here"], ours, lost),
        "CPU": _cpus(row["CPU"], used),
        "CPU, here": each_shows(row["CPU, here"], ours, cpu),
        "Published note": pd.isna(there["note"]) or row["Published note"] == there["note"],
    }


def _cpus(text: str, percents: Iterable[float]) -> bool:
    """Tell whether a field shows what both ends used: ``95 % + 78 %``."""
    known = [value for value in percents if not pd.isna(value)]
    told = [] if text == "---" else text.split(" + ")
    return len(told) == len(known) and all(map(shows_cpu, told, known))


def _our_datagrams(run: Run, scenario: str, size: int) -> list[pd.DataFrame]:
    """Return the points of this run that a published one is compared with."""
    testbed = HERE.get(scenario, "vm_pair") + "_udp"
    found = []
    for key, rows in curves(run.driven("datagrams")):
        if (key["testbed"], key["n_threads"]) == (testbed, 1):
            nearest = min(rows["msg_bytes"].unique(), key=lambda one: abs(one - size))
            if abs(nearest - size) <= size // 100:
                found.append(rows[rows["msg_bytes"] == nearest])
    return found


def here_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check the largest bitrate of one of our curves with iperf3."""
    rows = rows_of(run, "datagrams", row["Here"])
    assert set(rows["implementation"]) == {"iperf3"}
    size = rows.groupby("msg_bytes")["sent_bits_per_s"].median().idxmax()
    of = rows[rows["msg_bytes"] == size]
    loss = float((of["lost"] / of["sent"]).median())
    return {
        "Here": True,
        "Size": int(row["Size"].removesuffix(" B").replace(",", "")) == size,
        "Most sent [Gbit/s]": agrees(
            "x", row["Most sent [Gbit/s]"], of["sent_bits_per_s"].median() / 1e9
        ),
        "Lost there": agrees("p", row["Lost there"], loss),
    }
