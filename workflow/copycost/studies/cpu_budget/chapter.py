"""The tables of the chapter on the CPU budget: columns, and rows in Markdown."""

from copycost.records.columns import SIDES
from copycost.studies.shared_tables import curve_name, how_sent, ours
from copycost.wording.filters import cpu, gbit, join_and, percent, significant, span
from copycost.wording.markdown import Table, escape, listing, tabulate
from copycost.wording.values import Facts, in_cell

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
"""By kind of a bottleneck; see `copycost.studies.cpu_budget.curves`."""

_LIMITERS = {
    "cgroup v1": "the quota of a control group (version 1)",
    "cgroup v2": "the quota of a control group (version 2)",
    "cpulimit": "`cpulimit`",
}


def curves(facts: Facts) -> Table:
    """Return what CPU buys and how far that goes, a row per curve."""

    def name(curve: Facts) -> str:
        return curve_name(curve, facts["section"])

    scaling = {name(one): one["maximum"] for one in facts["scaling"]}

    def of_one_stream(curve: Facts) -> str:
        more = scaling.get(name(curve))
        return in_cell(more, "ratio") if more else ""

    def linear_range(curve: Facts) -> str:
        line = curve["lines"]["sender"]
        return cpu(line["limits"][-1]) if line else ""

    return tabulate(
        facts["curves"],
        {
            "Where": name,
            ">Gbit/s per % of a CPU": lambda curve: _slope(curve["lines"]["sender"]),
            ">Linear up to": linear_range,
            ">Highest [Gbit/s]": lambda curve: in_cell(curve["maximum"]["bits_per_s"], "gbit"),
            ">Ratio to one stream": of_one_stream,
            ">CPU per stream": lambda curve: ", ".join(
                cpu(curve["bottleneck"][f"{side}_percent"]) for side in SIDES
            ),
            "Bottleneck": lambda curve: _BOTTLENECKS[curve["bottleneck"]["kind"]],
        },
    )


def _slope(line: Facts | None) -> str:
    return in_cell(line["slope"], "gbit") if line and line["slope"] else "no line"


def checks(facts: Facts) -> Table:
    """Return how the CPU was limited and counted, and what the counts were held against."""
    limiter, rates = facts["limiter"], facts["rates"]
    rows = [
        *how_sent(facts),
        ("Limited by", join_and((_LIMITERS[kind] for kind in facts["limiter_kinds"]), "or")),
        ("Congestion control", join_and(facts["congestion_controls"])),
    ]
    if limiter["n"]:
        off = span(limiter["least_off"], limiter["most_off"], lambda x: significant(x, 2))
        missed = f"{limiter['n_missed']} of {facts['n_measured']}"
        rows += [
            ("CPU used per stream minus the limit [points]", off),
            (f"Repetitions over {facts['miss_points']:g} points off the limit", missed),
        ]
    for side in SIDES:
        if clock := facts["clocks"][side]:
            where = curve_name(clock, facts["section"])
            found = f"{percent(clock['median_ratio'])} ({where})"
            rows.append((f"perf's clock over the scheduler's, {side}, largest deviation", found))
    if rates is not None:
        allowed, largest = percent(rates["allowed"]), percent(rates["largest_off"])
        differ = f"{largest} at most, over {allowed} in {rates['n_differ']} of {rates['n']}"
        rows.append(("Deviation of iperf3's bitrate from the kernel's", differ))
    return listing(rows)


def shares(facts: Facts) -> Table:
    """Return the work whose share of a side's CPU time differs between one stream and several."""
    return tabulate(
        [{**one, **move} for one in facts["scaling"] for move in one["shares"] or ()],
        {
            "Where": lambda move: curve_name(move, facts["section"]),
            "Side": lambda move: str(move["side"]),
            "Work": lambda move: str(move["title"]),
            ">One stream": lambda move: percent(move["one"]),
            ">Several": lambda move: percent(move["many"]),
        },
    )


def published(facts: Facts) -> Table:
    """Return the published slopes and highest bitrates that this host has the like of."""

    def highest(curve: Facts) -> str:
        return gbit(curve["maximum"]["bits_per_s"]["median"])

    return tabulate(
        [one for one in facts["published"] if one["ours"]],
        {
            "Scenario": lambda row: escape(row["scenario"]),
            ">Streams": lambda row: str(row["parallel_streams"]),
            ">Gbit/s per %": lambda row: significant(row["gbps_per_cpu_percent"], 2),
            ">Per % here": lambda row: ours(row, facts["section"], _slope),
            ">Highest Gbit/s": lambda row: significant(row["max_bitrate_gbps"]),
            ">Highest here": lambda row: ours(row, facts["section"], highest),
        },
    )
