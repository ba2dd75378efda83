"""What the CPU budget's sides used inside of guests and outside; datagrams say it in like words."""

import re

import pandas as pd

from tools.recompute.driven import POINT, SIDES, named_rows
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says

_SECTIONS = {"sec-budget": "cpu_budget", "sec-datagrams": "datagrams"}
_CURVE = re.compile(r"[Oo]n `(vm_\w+)` with (\d+) streams?(?: \(([^)]*)\))?")


def curve_of(told: Told) -> tuple[str, pd.DataFrame]:
    """Return the study, and the repetitions of the curve that was named last."""
    section = "-".join(told.sentence.section.split("-")[:2])
    named = _CURVE.findall(f"{told.sentence.before} {told.sentence.text}")
    if section not in _SECTIONS or not named:
        raise NotRecomputedError("no curve in guests was named")
    study = _SECTIONS[section]
    return study, named_rows(told.run.driven(study), *named[-1])


def span_of(told: Told, party: str) -> list[float]:
    """Return the smallest and the largest median of a party over the points, as shares."""
    study, rows = curve_of(told)
    medians = rows.groupby(POINT[study])[party].median().dropna()
    return [medians.min() / 100.0, medians.max() / 100.0]


def side_of(told: Told) -> str:
    """Return whose guest was told of last."""
    text = f"{told.sentence.before} {told.sentence.text}"
    return str(re.findall(r"the (sender|receiver)s used", text)[-1])


@says(
    *(
        f"the {name}s used <ps> of a CPU inside their guest, and QEMU used <ps> outside"
        for name in SIDES
    )
)
def _one(told: Told, *_: Slot) -> Expected:
    side = side_of(told)
    return [span_of(told, side), span_of(told, f"{side}_hypervisor")]


@says(
    "the senders used <ps> and the receivers <ps> of a CPU inside their guest, and QEMU used <ps>"
    " outside"
)
def _both(told: Told, *_: Slot) -> Expected:
    return [span_of(told, party) for party in (*SIDES, "sender_hypervisor")]


@says("The guest as a whole says <ps>, and the virtualisation overhead is <ps> of a CPU")
def _guest(told: Told, *_: Slot) -> Expected:
    return [span_of(told, f"{side_of(told)}_{party}") for party in ("guest", "overhead")]


@says("virtual CPUs waited for one of the host's for up to <p> of the time")
def _waited(told: Told, *_: Slot) -> Expected:
    return [span_of(told, f"{side_of(told)}_vcpu_waiting")[1]]


def _at_most_bits(told: Told) -> pd.Series:
    """Return the medians at the point of the highest bitrate."""
    study, rows = curve_of(told)
    numbers = [name for name in rows if rows[name].dtype == float]
    medians = rows.groupby(POINT[study])[numbers].median()
    return medians.sort_values("bits_per_s").iloc[-1]


_GUESTS = ("the sender's guest", "the receiver's guest", "the guest of both sides")
_THREADS = {
    "vcpu": "The threads that run the virtual CPUs of",
    "io": "QEMU's main loop and I/O threads for",
}


def _whose(told: Told) -> str:
    """Return the side whose guest a sentence is about; one for both counts as the sender's."""
    return "receiver" if "the receiver's guest" in told.sentence.text else "sender"


@says(
    *(
        f"{words} {guest} ran, or waited for a CPU, for <p> of the time"
        for words in _THREADS.values()
        for guest in _GUESTS
    )
)
def _full(told: Told, *_: Slot) -> Expected:
    (kind,) = (kind for kind, words in _THREADS.items() if words in told.sentence.text)
    middle, side = _at_most_bits(told), _whose(told)
    return [(middle[f"{side}_{kind}"] + middle[f"{side}_{kind}_waiting"]) / 100.0]


@says(
    *(
        f"The virtual CPUs of {guest} could have run but had no CPU of this host for <p> of the"
        " time"
        for guest in _GUESTS
    )
)
def _had_none(told: Told, *_: Slot) -> Expected:
    return [_at_most_bits(told)[f"{_whose(told)}_vcpu_waiting"] / 100.0]


@says("All that ran used <p> of the <n> CPUs of this host")
def _host(told: Told, *_: Slot) -> Expected:
    n_cpus = told.run.host["cpu"]["cpus_online"]
    return [_at_most_bits(told)["host"] / n_cpus / 100.0, n_cpus]
