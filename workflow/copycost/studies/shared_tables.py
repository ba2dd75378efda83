"""What the chapters of several studies say alike: names of cells and curves, who sent and how."""

from collections.abc import Callable, Iterable

from copycost.config.strategy_capabilities import IPERF3
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import EMULATED
from copycost.wording.filters import cpu, duration, impl, join_and, n_threads, size
from copycost.wording.markdown import Table, tabulate
from copycost.wording.values import NOT_KNOWN, Facts, cpu_range
from copycost.wording.words import plural

_LIMITERS = {"cgroup": "a control group", "cpulimit": "`cpulimit`"}

_LIMITER_KINDS = {
    "cgroup v1": "the quota of a control group (version 1)",
    "cgroup v2": "the quota of a control group (version 2)",
    "cpulimit": "`cpulimit`",
}


def sender_name(implementation: str) -> str:
    """Return who sends: ``iperf3``, or ``our sender with `two_copy```."""
    return "iperf3" if implementation == IPERF3 else f"our sender with {impl(implementation)}"


def senders(facts: Facts) -> str:
    """Return all who send in a study, iperf3 with its version: ``iperf3 3.12``."""
    versions = join_and(facts["versions"])
    names = {name: sender_name(name) for name in facts["section"]["implementations"]}
    if versions and IPERF3 in names:
        names[IPERF3] = f"iperf3 {versions}"
    return join_and(names.values())


def limiters(kinds: Iterable[str]) -> str:
    """Return what limits a sender's CPU: ``the quota of a control group (version 2)``."""
    return join_and((_LIMITER_KINDS[kind] for kind in kinds), "or")


def variant(curve: Facts, section: Facts) -> str:
    """Return by whom and how, as far as there are several: ``iperf3, limited by `cpulimit```.

    Before that comes that the guests were emulated, which has to be said of every figure.
    """
    parts = ["emulated"] if curve.get("emulated") else []
    if len(section.get("implementations", ())) > 1:
        parts.append(sender_name(curve["implementation"]))
    if len(section.get("limiters", ())) > 1:
        parts.append(f"limited by {_LIMITERS[curve['limiter']]}")
    return ", ".join(parts)


def with_variant(text: str, curve: Facts, section: Facts) -> str:
    """Return a text with the variant that it is about, where there are several, behind it."""
    found = variant(curve, section)
    return f"{text} ({found})" if found else text


def ours(row: Facts, section: Facts, form: Callable[[Facts], str]) -> str:
    """Return something of each of our curves or points that a published row is compared with."""
    return "; ".join(with_variant(form(one), one, section) for one in row["ours"])


def curve_name(curve: Facts, section: Facts) -> str:
    """Return the name of a curve: ```veth` with 2 streams (iperf3)``."""
    text = f"{impl(curve['testbed'])} with {plural(curve['n_threads'], 'stream')}"
    return with_variant(text, curve, section)


def cell_name(cell: Facts) -> str:
    """Return the name of a profiled cell: ```two_copy` with 64 KiB and 1 thread on `veth```."""
    load = f"{size(cell['msg_bytes'])} and {n_threads([cell['n_threads']])}"
    return f"{impl(cell['implementation'])} with {load} on {where(cell)}"


def load_name(found: Facts) -> str:
    """Return a load in a table: ```veth`, 64 KiB, 1 thread``."""
    return f"{where(found)}, {size(found['msg_bytes'])}, {n_threads([found['n_threads']])}"


def where(found: Facts) -> str:
    """Return a condition, and whether its guests were emulated: ```vm_pair` (emulated)``."""
    name = impl(found["condition"])
    return f"{name} (emulated)" if found.get("accelerator") == EMULATED else name


def inside_and_outside(facts: Facts) -> Table:
    """Return a row per curve and guest: CPU from the least to the most of its points.

    For the `guests` of a study's curves, see `copycost.studies.shared_facts.curve_facts`.
    """

    def used(name: str) -> Callable[[Facts], str]:
        return lambda one: NOT_KNOWN if one["of"][name] is None else cpu_range(one["of"][name])

    def processes(one: Facts) -> str:
        return " + ".join(cpu_range(one["of"][side]) for side in SIDES if side in one["of"])

    def waited(one: Facts) -> str:
        found = one["most_waiting"]
        return NOT_KNOWN if found is None else cpu(found)

    return tabulate(
        [
            {**one, "curve": curve}
            for curve in facts["curves"]
            if curve["guests"]
            for one in curve["guests"]["spans"]
        ],
        {
            "Where": lambda one: curve_name(one["curve"], facts["section"]),
            "Side": lambda one: "both" if one["curve"]["guests"]["shared"] else one["side"],
            ">Processes": processes,
            ">Guest": used("guest"),
            ">QEMU": used("hypervisor"),
            ">Overhead": used("overhead"),
            ">Waiting, at most": waited,
        },
    )


def how_sent(facts: Facts) -> list[tuple[str, str]]:
    """Return rows on who sent in a study, for how long, and in which processes."""
    section = facts["section"]
    window = f"{duration(section['duration_s'])} after {duration(section['warmup_s'])} of warm-up"
    rows = [
        ("Sent by", senders(facts)),
        ("Window", f"{window}, {plural(section['repetitions'], 'time')}"),
    ]
    if facts["separate_processes"]:
        rows.append(("Processes", "one pair per stream, since iperf3 before 3.16 has one thread"))
    if facts["n_foreign"]:
        foreign = f"{facts['n_foreign']} of {facts['n_measured']}"
        rows.append(("Repetitions while other programs ran", foreign))
    return rows
