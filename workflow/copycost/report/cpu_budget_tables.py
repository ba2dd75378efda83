"""The tables of the chapter on the CPU budget: columns, and rows in Markdown."""

from typing import Any

from copycost.records.columns import SIDES
from copycost.report.markdown import Table, code, escape
from copycost.report.tables import how_sent
from copycost.report.values import (
    NONE,
    Facts,
    curve_name,
    in_cell,
    limiters,
    ours,
    with_variant,
)
from copycost.wording.filters import cpu, gbit, join_and, percent, significant, span

_PARTIES = {
    "sender_hypervisor": "QEMU, sender's guest",
    "receiver_hypervisor": "QEMU, receiver's guest",
}
_BASIS = {"line": "fitted line", "points": "between two points", "least": "lowest point"}
_BOTTLENECKS = {
    "sender": "sender's CPU",
    "receiver": "receiver's CPU",
    "both": "both sides' CPUs",
    "vcpu": "virtual CPUs",
    "io": "QEMU's main loop and I/O threads",
    "vhost": "vhost, in the host's kernel",
    "host": "all CPUs of the host",
    "vcpu_waiting": "virtual CPUs waiting for CPUs of the host",
    "waiting": "waiting for a CPU in use",
    "limit": "the CPU limit",
    "unknown": "not identified",
}
"""By kind of a bottleneck; see `copycost.studies.cpu_budget.bottleneck`."""


def curves(facts: Facts) -> Table:
    """Return what CPU buys and how far that goes, a row per curve."""
    scaling = {_curve_of(one): one for one in facts["scaling"]}
    columns = [
        "Where",
        ">Gbit/s per % of a CPU",
        ">Linear up to",
        ">Highest [Gbit/s]",
        *([">Ratio to one stream"] if scaling else []),
        ">CPU per stream",
        "Bottleneck",
    ]
    rows = []
    for curve in facts["curves"]:
        if not curve["points"]:
            continue
        line, more = curve["lines"]["sender"], scaling.get(_curve_of(curve))
        of_one = in_cell(more["maximum"], "ratio") if more else ""
        judged = curve["bottleneck"]
        rows.append(
            [
                curve_name(curve, facts["section"]),
                in_cell(line["slope"], "gbit") if line else "no line",
                cpu(line["limits"][-1]) if line else "",
                in_cell(curve["maximum"]["bits_per_s"], "gbit"),
                *([of_one] if scaling else []),
                f"{cpu(judged['sender_percent'])}, {cpu(judged['receiver_percent'])}",
                _BOTTLENECKS[judged["kind"]],
            ]
        )
    return columns, rows


def _curve_of(found: Facts) -> tuple[Any, ...]:
    return tuple(found[key] for key in ("testbed", "implementation", "limiter", "n_threads"))


def checks(facts: Facts) -> Table:
    """Return how the CPU was limited and counted, and what the counts were held against."""
    section, limiter, clocks, rates = (
        facts[name] for name in ("section", "limiter", "clocks", "rates")
    )
    rows = [*how_sent(facts), ["Limited by", limiters(facts["limiter_kinds"])]]
    if facts["congestion_controls"]:
        rows.append(["Congestion control", join_and(facts["congestion_controls"])])
    if limiter["n"]:
        off = span(limiter["least_off"], limiter["most_off"], lambda x: significant(x, 2))
        rows.append(["CPU used per stream minus the limit [points]", off])
        missed = f"{limiter['n_missed']} of {facts['n_measured']}"
        rows.append([f"Repetitions over {facts['miss_points']:g} points off the limit", missed])
    for side in SIDES:
        if clock := clocks[side]:
            where = curve_name(clock, section)
            found = f"{percent(clock['median_ratio'])} ({where})"
            rows.append([f"perf's clock over the scheduler's, {side}, largest deviation", found])
    if rates is not None:
        allowed, largest = percent(rates["allowed"]), percent(rates["largest_off"])
        differ = f"{largest} at most, over {allowed} in {rates['n_differ']} of {rates['n']}"
        rows.append(["Deviation of iperf3's bitrate from the kernel's", differ])
    return ["What", "Value"], rows


def shares(facts: Facts) -> Table:
    """Return the work whose share of a side's CPU time differs between one stream and several."""
    columns = ["Where", "Side", "Work", ">One stream", ">Several"]
    rows = [
        [
            curve_name(one, facts["section"]),
            move["side"],
            move["title"],
            percent(move["one"]),
            percent(move["many"]),
        ]
        for one in facts["scaling"]
        for move in one["shares"] or ()
    ]
    return columns, rows


def slopes(facts: Facts) -> Table:
    """Return the lines of bitrate over the CPU use of all but the senders, a row per party."""
    columns = ["Where", "Whose CPU", ">Gbit/s per % of a CPU", ">Linear range"]
    rows = [
        [
            curve_name(curve, facts["section"]),
            _PARTIES.get(party, party),
            in_cell(line["slope"], "gbit"),
            span(line["least_cpu"], line["most_cpu"], cpu),
        ]
        for curve in facts["curves"]
        for party, line in curve["lines"].items()
        if line is not None and party != "sender"
    ]
    return columns, rows


def published(facts: Facts) -> Table:
    """Return the published slopes and highest bitrates that this host has the like of."""

    def slope(curve: Facts) -> str:
        return in_cell(curve["slope"], "gbit") if curve["slope"] else "no line"

    def highest(curve: Facts) -> str:
        return gbit(curve["maximum"]["bits_per_s"]["median"])

    columns = ["Scenario", ">Streams", ">Gbit/s per %", ">here", ">Highest Gbit/s", ">here"]
    rows = [
        [
            escape(row["scenario"]),
            str(row["parallel_streams"]),
            significant(row["gbps_per_cpu_percent"], 2),
            ours(row, facts["section"], slope),
            significant(row["max_bitrate_gbps"]),
            ours(row, facts["section"], highest),
        ]
        for row in facts["published"]
        if row["ours"] and row["gbps_per_cpu_percent"] is not None
    ]
    return columns, rows


def plans(facts: Facts) -> Table:
    """Return the number of streams that takes the least CPU, a row per testbed and bitrate."""
    columns = [
        "Testbed",
        ">Gbit/s",
        ">Streams",
        ">Sender's CPU",
        ">Receiver's CPU",
        *([">QEMU's CPU"] if facts["guests"] else []),
        "Basis",
    ]
    in_guests = facts["guests"] is not None
    return columns, [_plan(plan, facts["section"], in_guests) for plan in facts["plans"]]


def _plan(plan: Facts, section: Facts, in_guests: bool) -> list[str]:
    start = [code(plan["testbed"]), gbit(plan["bits_per_s"])]
    if plan["basis"] == "beyond":
        most = with_variant(gbit(plan["highest_bits_per_s"]), {"emulated": plan["emulated"]}, {})
        return [*start, *[NONE] * (4 if in_guests else 3), f"highest measured: {most}"]
    needs = [_need(plan[side], plan["basis"]) for side in SIDES]
    if in_guests:
        outside = [_need(need, plan["basis"]) for need in plan["outside"].values()]
        needs.append(" + ".join(outside) or NONE)
    basis = with_variant(_BASIS[plan["basis"]], plan, section)
    return [*start, str(plan["n_threads"]), *needs, basis]


def _need(need: Facts, basis: str) -> str:
    text = in_cell({**need, "value": need["percent"]}, "cpu")
    return f"at most {text}" if basis == "least" else text
