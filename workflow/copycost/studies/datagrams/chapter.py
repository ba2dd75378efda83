"""The tables of the chapter on datagrams: columns, and rows in Markdown."""

from collections.abc import Callable, Iterable

from copycost.studies.shared_tables import curve_name, how_sent, ours
from copycost.wording.filters import cpu, exact_size, gbit, percent, significant
from copycost.wording.markdown import Table, escape, listing, tabulate
from copycost.wording.number_sources import number_of
from copycost.wording.numbers import NBSP
from copycost.wording.values import NONE, NOT_KNOWN, Facts, in_cell, ns_in_text, rate_span
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

    def most_lost(curve: Facts) -> str:
        worst = curve["most_loss"]
        return f"{_loss(worst)} at {exact_size(worst['msg_bytes'])}" if worst else NOT_KNOWN

    return tabulate(
        facts["curves"],
        {
            "Where": lambda curve: curve_name(curve, facts["section"]),
            ">Highest received [Gbit/s]": lambda it: in_cell(it["maximum"]["bits_per_s"], "gbit"),
            ">At size": lambda curve: exact_size(curve["maximum"]["msg_bytes"]),
            ">Loss there": lambda curve: _loss(curve["maximum"]),
            ">Highest loss": most_lost,
            ">Cost per datagram, sender": lambda curve: _cost(curve["costs"]["sender"]),
            ">Cost per datagram, receiver": lambda curve: _cost(curve["costs"]["receiver"]),
        },
    )


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

    def lost(curve: Facts) -> str:
        lost, sent = curve["account"]["lost"], curve["account"]["sent"]
        return f"{percent(lost / sent)} of {sent:,}" if sent else NONE

    def by(cause: str) -> Callable[[Facts], str]:
        return lambda curve: "".join(
            percent(one["share"]) for one in curve["account"]["causes"] if one["cause"] == cause
        )

    return tabulate(
        [curve for curve in facts["curves"] if curve["account"]],
        {
            "Where": lambda curve: curve_name(curve, facts["section"]),
            ">Lost": lost,
            **{f">{title}": by(cause) for cause, title in _CAUSES.items()},
            ">Unexplained, at most": lambda curve: plural(
                curve["account"]["missing"]["largest"], "datagram"
            ),
        },
    )


def checks(facts: Facts) -> Table:
    """Return how datagrams were sent and counted, and what the counts were held against."""
    section, account, driver = (facts[name] for name in ("section", "account", "cross_check"))
    rows = [*how_sent(facts), ("CPU time from", _CLOCKS.get(facts["cpu_clock"], ""))]
    for curve in facts["curves"]:
        if limit := curve["limit"]:
            held = f"{number_of(limit['sizes'])} of {plural(limit['n_sizes'], 'size')}"
            name = curve_name(curve, section)
            allowed = f"{rate_span(limit)}, which set the bitrate at {held}"
            rows.append((f"Limit on {name} (`wire.udp_mbit_per_s`)", allowed))
    if account:
        complete = f"{account['n_complete']} of {account['n']}"
        rows.append(("Repetitions whose causes of loss explain every lost datagram", complete))
        if account["excess"]["n"]:
            excess = account["excess"]
            most = f"{excess['n']}, by {plural(excess['largest'], 'datagram')} at most"
            rows.append(("Repetitions with more losses by cause than in all", most))
        unread = account["n_not_drained"]
        rows.append(("Repetitions with datagrams left unread", f"{unread or ''}"))
    if driver:
        less, more = (percent(max(0.0, driver[f"largest_{one}"])) for one in ("less", "more"))
        off = f"{driver['n_differ']} of {driver['n']} ({less} too few, {more} too many at most)"
        title = f"iperf3's losses off the kernel's by over {percent(driver['allowed'])} of all sent"
        rows.append((title, off))
        for name, words in (("n_negative", "a negative loss"), ("n_out_of_order", "reordering")):
            rows.append((f"Repetitions in which iperf3 reported {words}", f"{driver[name] or ''}"))
    rows.append(("Repetitions with `nan` from iperf3, taken as missing", f"{facts['n_nan'] or ''}"))
    return listing(rows)


def published(facts: Facts) -> Table:
    """Return the published bitrates, losses and CPU use that this host has the like of."""

    def here(form: Callable[[Facts], str]) -> Callable[[Facts], str]:
        return lambda row: ours(row, facts["section"], form)

    def loss(row: Facts) -> str:
        return f"{row['loss_percent']}{NBSP}%".replace("-", "\N{EN DASH}")

    return tabulate(
        [row for row in facts["published"] if row["ours"]],
        {
            "Scenario": lambda row: escape(row["scenario"]),
            ">Size": lambda row: exact_size(row["msg_bytes"]),
            ">Sent [Gbit/s]": lambda row: significant(row["tx_bitrate_gbps"]),
            ">Sent here": here(lambda point: gbit(point["sent_bits_per_s"]["median"])),
            ">Lost": loss,
            ">Lost here": here(_loss),
            ">CPU": lambda row: _cpus(row[f"{end}_cpu_percent"] for end in ("client", "server")),
            ">CPU here": here(
                lambda point: _cpus(point[name] and point[name]["median"] for name in _CPU)
            ),
            "Published note": lambda row: escape(row["note"] or ""),
        },
    )


def _loss(point: Facts) -> str:
    return percent(point["loss"]["median"]) if point["loss"] else NOT_KNOWN


def _cpus(used: Iterable[float | None]) -> str:
    """Return what senders and receivers used: ``95 % + 78 %``; a mark where that is not known."""
    return " + ".join(cpu(value) for value in used if value is not None) or NONE
