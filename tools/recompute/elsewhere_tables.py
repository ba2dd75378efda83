"""The tables of the report on what ran in guests and over a wire, field by field."""

import re
from collections.abc import Callable

import pandas as pd

from tools.recompute import driven_tables, virtual, wire
from tools.recompute.document import Table
from tools.recompute.fields import Checked, Field, Row, shows, span, way_of
from tools.recompute.run import THROUGHPUT, Run
from tools.recompute.slots import agrees


def _virtual_row(run: Run, condition: str, found: re.Match[str], row: Row, _: Table) -> Checked:
    """Check a cell in guests and without: throughput, or CPU time per byte inside and outside."""
    size, without = run.size(row["Message"]), virtual.without(condition)
    rows = run.measured(condition)
    threads = int(row.get("Threads", rows["n_threads"].min()))
    here = rows[
        (rows["implementation"] == way_of(row))
        & (rows["msg_bytes"] == size)
        & (rows["n_threads"] == threads)
    ]

    def elsewhere(metric: str) -> float:
        return run.median(without, way_of(row), (size, threads), metric).value

    values = {
        f"Gbit/s, `{without}`": elsewhere(THROUGHPUT) / 1e9,
        f"Gbit/s, `{condition}`": run.median_of(here[THROUGHPUT]).value / 1e9,
        f"ns/B, `{without}`": elsewhere("both_cpu_ns_per_byte"),
        "ns/B, inside": run.median_of(here["both_cpu_ns_per_byte"]).value,
        "ns/B, outside": run.median_of(virtual.outside(here)).value,
    }
    quantity = {"rates": "throughput", "costs": "outside"}[found[1]]
    rounds = dict(virtual.over(run, condition, quantity).iterrows())
    ratio = run.ratio(rounds[way_of(row), size, threads])
    return {
        "Message": len(here) > 0,
        **{title: shows(row[title], value) for title, value in values.items() if title in row},
        "ratio": shows(row["ratio"], ratio.value),
        "interval": span(row["interval"], ratio, 1.0, run),
    }


def _virtual_trip_row(run: Run, condition: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check how many times as long, and as much CPU time, a round trip takes in guests."""
    over = virtual.trips_over(run, condition)
    index = over["median"].index
    threads = int(row.get("Threads", index.get_level_values("n_threads").min()))
    cell = way_of(row), run.size(row["Message"]), threads
    known: dict[str, Field] = {"Message": cell in index}
    for title in filter(row.__contains__, over):
        known[title] = _ratio_field(run, row[title], dict(over[title].iterrows())[cell])
    return known


def _ratio_field(run: Run, text: str, logs: pd.Series) -> Field:
    """Tell whether a field shows a ratio with its interval: ``5.1 (4.8 to 5.4)``."""
    ratio = run.ratio(logs)
    value, _, ends = text.removesuffix(")").partition(" (")
    return shows(value, ratio.value) and span(ends, ratio, 1.0, run)


def _overhead_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what a guest and its hypervisor used: the smallest and largest median of the cells."""
    found = re.fullmatch(r"`(\w+)`, (sender|receiver)( and receiver)?", row["Guest"])
    if found is None:
        return driven_tables.published_overhead(row)
    rows, side = run.measured(found[1]), found[2]
    cpu = rows[THROUGHPUT] / 8.0 * 1e-9 * 100.0
    processes = "both" if found[3] else side
    columns = {"processes": f"{processes}_cpu_ns_per_byte"} | {
        name: f"{side}_{name}_cpu_ns_per_byte" for name in ("guest", "hypervisor", "overhead")
    }
    used = pd.DataFrame({title: rows[name].astype(float) * cpu for title, name in columns.items()})
    keys = [rows[name] for name in ("implementation", "msg_bytes", "n_threads")]
    medians = used.groupby(keys).median().dropna()
    return {
        title: agrees("ps", row[title], [medians[title].min() / 100, medians[title].max() / 100])
        for title in columns
    }


def _wire_row(run: Run, condition: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check a cell over the wire: its rate, or what a byte costs processes and machines."""
    rows = run.measured(condition)
    threads = int(row.get("Threads", rows["n_threads"].min()))
    here = rows[
        (rows["implementation"] == way_of(row))
        & (rows["msg_bytes"] == run.size(row["Message"]))
        & (rows["n_threads"] == threads)
    ]
    if "Gbit/s" in row:
        whole, unit = run.median_of(here[THROUGHPUT]), 1e9
        again = here["tcp_retransmits"].sum(min_count=1) / here["received_bytes"].sum() * 1e9
        known: dict[str, Field] = {
            "Gbit/s": shows(row["Gbit/s"], whole.value / unit),
            "sent again per GB": shows(row["sent again per GB"], again),
        }
        bounds = {"of the link": wire.of_the_link, "of the limit": wire.of_the_limit}
        for title, shares in bounds.items():
            if title in row:
                cells = shares(run, condition).set_index(
                    ["implementation", "msg_bytes", "n_threads"]
                )
                share = cells.loc[(way_of(row), run.size(row["Message"]), threads), "share"]
                known[title] = agrees("p", row[title], share)
    else:
        whole, unit = run.median_of(here[wire.MACHINES]), 1.0
        columns = {
            "sender": "sender",
            "its machine": "sender_machine",
            "receiver": "receiver",
            "receiver, its machine": "receiver_machine",
            "both machines": "machines",
        }
        known = {
            title: shows(row[title], run.median_of(here[f"{name}_cpu_ns_per_byte"]).value)
            for title, name in columns.items()
        }
    known["interval"] = span(row["interval"], whole, unit, run)
    return known | {"Message": len(here) > 0, "Threads": len(here) > 0}


def _ends_row(run: Run, _c: str, found: re.Match[str], row: Row, table: Table) -> Checked:
    return wire.ends_row(run, found[1] or table.columns[-1].strip("`"), row)


def _wire_trip_row(run: Run, condition: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what a round trip over the wire costs processes and machines."""
    trips = run.round_trips[run.round_trips["status"] == "measured"]
    here = trips[
        (trips["condition"] == condition)
        & (trips["implementation"] == way_of(row))
        & (trips["msg_bytes"] == run.size(row["Message"]))
        & (trips["n_threads"] == int(row.get("Threads", trips["n_threads"].min())))
    ]
    columns = {
        "sender": "sender",
        "its machine": "sender_machine",
        "softirq": "sender_machine_softirq",
        "receiver": "receiver",
        "receiver, its machine": "receiver_machine",
        "its machine, softirq": "receiver_machine_softirq",
        "both machines": "machines",
    }
    known: dict[str, Field] = {
        title: shows(row[title], run.median_of(here[f"{name}_{wire.PER_TRIP}"]).value / 1e3)
        for title, name in columns.items()
        if title in row
    }
    whole = run.median_of(here[f"machines_{wire.PER_TRIP}"])
    known["interval"] = span(row["interval"], whole, 1e3, run)
    return known | {"Message": len(here) > 0, "Threads": len(here) > 0}


TABLES: dict[str, Callable[..., Checked]] = {
    r"tbl-virtual-overhead": _overhead_row,
    r"tbl-.*-virtual-(rates|costs)": _virtual_row,
    r"tbl-.*-virtual-trips": _virtual_trip_row,
    r"tbl-.*-wire-(?:rates|costs)": _wire_row,
    r"tbl-.*-wire-trips": _wire_trip_row,
    r"tbl-wire-ends(?:-(.*))?": _ends_row,
}
"""Which function checks a row of which table."""
