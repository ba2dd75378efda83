"""The tables of the chapter on datagrams: columns, and rows in Markdown."""

from collections.abc import Iterable

from copycost.records.columns import SIDES
from copycost.report.markdown import Table, code, escape
from copycost.report.tables import how_sent
from copycost.report.values import (
    NONE,
    NOT_KNOWN,
    Facts,
    curve_name,
    in_cell,
    ns_in_text,
    ours,
    top_shares,
    where,
)
from copycost.report.wire_tables import rate_span
from copycost.wording.filters import cpu, exact_size, gbit, percent, significant
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

_CPU = ("sender_cpu_percent", "receiver_cpu_percent")
_CAUSES = {
    "receive_buffer": "Receive buffer",
    "socket_memory": "Socket memory",
    "reassembly": "Reassembly",
    "device": "Device",
    "tap": "TAP device",
    "bridge": "Bridge",
    "other": "Other",
}
_CLOCKS = {
    "task_clock": "perf stat's task clock",
    "scheduler": "the scheduler's clock",
    "mixed": "perf stat's task clock, or the scheduler's where it was not counted",
}


def curves(facts: Facts) -> Table:
    """Return what was received and lost at most, and what a datagram costs, a row per curve."""
    columns = [
        "Where",
        ">Highest received [Gbit/s]",
        ">At size",
        ">Loss there",
        ">Highest loss",
        *(f">Cost per datagram, {side}" for side in SIDES),
    ]
    rows = []
    for curve in facts["curves"]:
        top, worst = curve["maximum"], curve["most_loss"]
        rows.append(
            [
                curve_name(curve, facts["section"]),
                in_cell(top["bits_per_s"], "gbit"),
                exact_size(top["msg_bytes"]),
                _loss(top),
                f"{_loss(worst)} at {exact_size(worst['msg_bytes'])}" if worst else NOT_KNOWN,
                *(_cost(curve["costs"][side]) for side in SIDES),
            ]
        )
    return columns, rows


def _cost(found: Facts | None) -> str:
    """Return the terms of a cost that are seen: ``1500 ns + 0.0998 ns per byte``."""
    if found is None:
        return "fewer than two sizes"
    if found["kind"] == "no_sum":
        return f"no linear fit, {percent(found['misfit'])} off"
    terms = {
        "per_datagram": ns_in_text(found["fixed_ns"]),
        "per_byte": f"{ns_in_text(found['ns_per_byte'])} per byte",
    }
    seen = [text for kind, text in terms.items() if found["kind"] in (kind, "both")]
    return " + ".join(seen) or "too uncertain"


def causes(facts: Facts) -> Table:
    """Return where datagrams were lost by the kernel's counters, a row per curve."""
    known = [curve for curve in facts["curves"] if curve["account"]]
    seen = {one["cause"] for curve in known for one in curve["account"]["causes"]}
    shown = {cause: title for cause, title in _CAUSES.items() if cause in seen}
    columns = [
        "Where",
        ">Lost",
        *(f">{title}" for title in shown.values()),
        ">Unexplained, at most",
    ]
    rows = []
    for curve in known:
        account = curve["account"]
        shares = {one["cause"]: percent(one["share"]) for one in account["causes"]}
        lost, sent = account["lost"], account["sent"]
        rows.append(
            [
                curve_name(curve, facts["section"]),
                f"{percent(lost / sent)} of {sent:,}" if sent else NONE,
                *(shares.get(cause, "") for cause in shown),
                plural(account["missing"]["largest"], "datagram"),
            ]
        )
    return columns, rows


def checks(facts: Facts) -> Table:
    """Return how datagrams were sent and counted, and what the counts were held against."""
    section, account, driver = (facts[name] for name in ("section", "account", "cross_check"))
    rows = how_sent(facts)
    if facts["cpu_clock"]:
        rows.append(["CPU time from", _CLOCKS[facts["cpu_clock"]]])
    for curve in facts["curves"]:
        if limit := curve["limit"]:
            held = f"{len(limit['sizes'])} of {plural(limit['n_sizes'], 'size')}"
            name = curve_name(curve, section)
            allowed = f"{rate_span(limit)}, which set the bitrate at {held}"
            rows.append([f"Limit on {name} (`wire.udp_mbit_per_s`)", allowed])
    for one in facts["other_packets"]:
        packets = f"{one['packets']} ({one['without_packets']} on {code(one['without'])})"
        title = f"Packets per datagram of {exact_size(one['msg_bytes'])} on {where(one)}"
        rows.append([title, packets])
    if account:
        complete = f"{account['n_complete']} of {account['n']}"
        rows.append(["Repetitions whose causes of loss explain every lost datagram", complete])
        if account["excess"]["n"]:
            excess = account["excess"]
            most = f"{excess['n']}, by {plural(excess['largest'], 'datagram')} at most"
            rows.append(["Repetitions with more losses by cause than in all", most])
        if account["n_not_drained"]:
            rows.append(["Repetitions with datagrams left unread", str(account["n_not_drained"])])
    if driver:
        less, more = (percent(max(0.0, driver[f"largest_{one}"])) for one in ("less", "more"))
        off = f"{driver['n_differ']} of {driver['n']} ({less} too few, {more} too many at most)"
        title = f"iperf3's losses off the kernel's by over {percent(driver['allowed'])} of all sent"
        rows.append([title, off])
        for name, words in (("n_negative", "a negative loss"), ("n_out_of_order", "reordering")):
            if driver[name]:
                rows.append([f"Repetitions in which iperf3 reported {words}", str(driver[name])])
    if facts["n_nan"]:
        rows.append(["Repetitions with `nan` from iperf3, taken as missing", str(facts["n_nan"])])
    return ["What", "Value"], rows


def shares(facts: Facts) -> Table:
    """Return what the sides spend most on, by the profiles, a row per size and side."""
    columns = ["Where", ">Size", "Side", "Most CPU time"]
    rows = [
        [
            curve_name(one, facts["section"]),
            exact_size(one["msg_bytes"]),
            one["side"],
            top_shares(one["top"]),
        ]
        for one in facts["shares"]
    ]
    return columns, rows


def published(facts: Facts) -> Table:
    """Return the published bitrates, losses and CPU use that this host has the like of."""
    section = facts["section"]
    columns = ["Scenario", ">Size", ">Sent [Gbit/s]", ">here", ">Lost", ">here", ">CPU", ">here",
               "Published note"]  # fmt: skip
    rows = [
        [
            escape(row["scenario"]),
            exact_size(row["msg_bytes"]),
            significant(row["tx_bitrate_gbps"]),
            ours(row, section, lambda point: gbit(point["sent_bits_per_s"]["median"])),
            f"{row['loss_percent']}{NBSP}%".replace("-", "\N{EN DASH}"),
            ours(row, section, _loss),
            _cpus(row[f"{end}_cpu_percent"] for end in ("client", "server")),
            ours(row, section, lambda point: _cpus(map(_medians(point).get, _CPU))),
            escape(row["note"]) if row["note"] else NONE,
        ]
        for row in facts["published"]
        if row["ours"]
    ]
    return columns, rows


def _loss(point: Facts) -> str:
    return percent(point["loss"]["median"]) if point["loss"] else NOT_KNOWN


def _medians(point: Facts) -> dict[str, float | None]:
    return {name: point[name] and point[name]["median"] for name in _CPU}


def _cpus(used: Iterable[float | None]) -> str:
    """Return what senders and receivers used: ``95 % + 78 %``; a mark where that is not known."""
    return " + ".join(cpu(value) for value in used if value is not None) or NONE
