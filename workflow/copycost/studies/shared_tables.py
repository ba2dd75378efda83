"""What the chapters of several studies say alike: names of cells and curves, who sent and how."""

from collections.abc import Callable, Sequence

from copycost.config.strategy_capabilities import IPERF3
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import EMULATED
from copycost.wording.filters import cpu, duration, impl, join_and, n_threads, size
from copycost.wording.markdown import Table, tabulate
from copycost.wording.values import NOT_KNOWN, Facts, cpu_range
from copycost.wording.words import plural

_LIMITERS = {"cgroup": "a control group", "cpulimit": "`cpulimit`"}


def _sender(implementation: str, versions: Sequence[str] = ()) -> str:
    """Return who sends: ``iperf3 3.12``, or ``our sender with `two_copy```."""
    if implementation == IPERF3:
        return f"iperf3 {join_and(versions)}".rstrip()
    return f"our sender with {impl(implementation)}"


def with_variant(text: str, curve: Facts, section: Facts) -> str:
    """Return a text with by whom and how behind it, as far as there are several.

    Such as ``(iperf3, limited by `cpulimit`)``. Before that comes that the guests were emulated,
    which has to be said of every figure.
    """
    parts = ["emulated"] if curve["emulated"] else []
    if len(section["implementations"]) > 1:
        parts.append(_sender(curve["implementation"]))
    if len(section.get("limiters", ())) > 1:
        parts.append(f"limited by {_LIMITERS[curve['limiter']]}")
    return f"{text} ({', '.join(parts)})" if parts else text


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

    def used(name: str, form: Callable[[Facts], str] = cpu_range) -> Callable[[Facts], str]:
        return lambda one: form(one["of"][name]) if one["of"][name] else NOT_KNOWN

    return tabulate(
        [{**one, "curve": curve} for curve in facts["curves"] for one in curve["guests"]],
        {
            "Where": lambda one: curve_name(one["curve"], facts["section"]),
            "Side": lambda one: str(one["side"]),
            ">Processes": lambda one: " + ".join(
                cpu_range(one["of"][side]) for side in SIDES if side in one["of"]
            ),
            ">Guest": used("guest"),
            ">QEMU": used("hypervisor"),
            ">Overhead": used("overhead"),
            ">Waiting, at most": used("vcpu_waiting", lambda span: cpu(span["high"])),
        },
    )


def how_sent(facts: Facts) -> list[tuple[str, str]]:
    """Return rows on who sent in a study, for how long, and in which processes."""
    section = facts["section"]
    window = f"{duration(section['duration_s'])} after {duration(section['warmup_s'])} of warm-up"
    senders = (_sender(name, facts["versions"]) for name in section["implementations"])
    rows = [
        ("Sent by", join_and(senders)),
        ("Window", f"{window}, {plural(section['repetitions'], 'time')}"),
    ]
    if facts["separate_processes"]:
        rows.append(("Processes", "one pair per stream, since iperf3 before 3.16 has one thread"))
    if facts["n_foreign"]:
        foreign = f"{facts['n_foreign']} of {facts['n_measured']}"
        rows.append(("Repetitions while other programs ran", foreign))
    return rows
