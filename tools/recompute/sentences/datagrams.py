"""What datagrams cost, inside of guests and outside, how many were lost, and where."""

import re

import numpy as np
import pandas as pd

from tools.recompute.driven import CAUSES, CURVE, SIDES
from tools.recompute.estimates import Estimate
from tools.recompute.profile import slug_of
from tools.recompute.sentences.cpu_budget import curve_of, rate, side_of, span_of, version
from tools.recompute.told import Expected, Slot, Told, says
from tools.recompute.two_terms import TwoTerms, kind, two_terms

_LOSS_DIFFERS = 0.005
_MOST_BYTES = 65507


@says(
    "Here iperf3 <d> sent datagrams as fast as could be, <n> repetitions of each size",
    "Here iperf3 <d> sent datagrams as fast as could be, <n> repetition of each size",
    "Here iperf3 <d>",
)
def _sent(told: Told, *slots: Slot) -> Expected:
    section = told.run.config["datagrams"]
    return [version(told.run, "datagrams"), section["repetitions"]][: len(slots)]


@says("sent datagrams as fast as could be, <n> repetitions of each size")
def _repetitions(told: Told, *_: Slot) -> Expected:
    return [told.run.config["datagrams"]["repetitions"]]


@says("Bitrates and CPU use are those of a window of <time>")
def _window(told: Told, *_: Slot) -> Expected:
    return [told.run.config["datagrams"]["duration_s"]]


@says(
    *(
        f"On <impl>{emulated}, where packets are of up to <size> (MTU), a datagram of <size> is "
        "<n> packets; on <impl>, with up to <size>, "
        f"{other}"
        for emulated in (" (emulated)", "")
        for other in ("<n> packet:", "<n> packets:")
    )
)
def _other_packets(
    told: Told, here: str, _mtu: int, size: int, _n: int, there: str, *_: Slot
) -> Expected:
    rows = told.run.driven("datagrams")
    ends = [rows[rows["testbed"] == name] for name in (here, there)]
    common = set(ends[0]["msg_bytes"]) & set(ends[1]["msg_bytes"])
    mtus = [of["mtu_bytes"].max() for of in ends]
    each = [of.loc[of["msg_bytes"] == size, "packets_each"].max() for of in ends]
    return [None, mtus[0], max(common), each[0], None, mtus[1], each[1]]


def points(rows: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    """Return the sizes of a curve with their repetitions."""
    return [(int(str(size)), of) for size, of in rows.groupby("msg_bytes")]


def _largest(told: Told, column: str) -> tuple[int, pd.DataFrame]:
    every = points(curve_of(told)[1])
    return max(every, key=lambda point: float(point[1][column].median()))


def _says_most(words: str, column: str) -> None:
    @says(f"{words} at <size>: <rate> <i>", f"{words} at <size>: <rate>")
    def _most(told: Told, _size: int, text: str, *more: Slot) -> Expected:
        size, of = _largest(told, column)
        found = told.run.median_of(of[column])
        return [size, found.value, *([rate(found, text)] if more else [])]


_says_most("most was received", "bits_per_s")
_says_most("Most was sent", "sent_bits_per_s")


def loss(told: Told, of: pd.DataFrame) -> Estimate:
    """Return the median share of what was sent that was lost; its interval is within a share's."""
    shares = of["lost"] / of["sent"]
    found = told.run.median_of(shares)
    if found.value > 0.5:
        found = told.run.median_of(1 - shares).rest()
    return found.within(1.0)


@says("There, <p> of what was sent was lost")
def _lost_there(told: Told, *_: Slot) -> Expected:
    of = _largest(told, "bits_per_s")[1]
    return [loss(told, of).value]


@says("The median loss was largest, <pe>, at <size>")
def _worst(told: Told, *_: Slot) -> Expected:
    every = points(curve_of(told)[1])
    size, of = max(every, key=lambda point: float((point[1]["lost"] / point[1]["sent"]).median()))
    return [loss(told, of), size]


@says("The virtualisation overhead is <ps> of a CPU")
def _overhead(told: Told, *_: Slot) -> Expected:
    return [span_of(told, f"{side_of(told)}_overhead")]


# ---------------------------------------------------------------- where they were lost


def _meant(told: Told) -> pd.DataFrame:
    """Return the repetitions of the curve that was named last, or all."""
    if CURVE.search(f"{told.sentence.before} {told.sentence.text}"):
        return curve_of(told)[1]
    return told.run.driven("datagrams")


@says(
    "with <n> stream <n> datagrams of <n> were lost",
    "with <n> streams <n> datagrams of <n> were lost",
    "<n> datagrams of <n> were lost",
)
def _lost(told: Told, *slots: Slot) -> Expected:
    rows = curve_of(told)[1]
    found = [int(rows["n_threads"].iloc[0]), int(rows["lost"].sum()), int(rows["sent"].sum())]
    return found[-len(slots) :]


def _says_cause(cause: str, words: str) -> None:
    @says(f"Of all that was lost, <p> {words}")
    def _share(told: Told, *_: Slot) -> Expected:
        rows = _meant(told)
        return [rows[f"lost_{cause}"].sum() / rows["lost"].sum()]


for _cause, _words in CAUSES.items():
    _says_cause(_cause, _words)


@says(
    "So no loss is left without a cause, in any repetition",
    "The account is complete: in the only repetition the causes add up",
)
def _complete(told: Told) -> Expected:
    off = int((_meant(told)["unaccounted"] != 0).sum())
    assert off == 0, f"in {off} repetitions there is something left"
    return []


@says("The account is complete in <n> of <n> repetitions")
def _complete_in(told: Told, *_: Slot) -> Expected:
    rows = _meant(told)
    return [int((rows["unaccounted"] == 0).sum()), len(rows)]


@says("The account is complete in none of <n> repetitions")
def _complete_in_none(told: Told, *_: Slot) -> Expected:
    rows = _meant(told)
    assert (rows["unaccounted"] != 0).all(), "it is complete in some"
    return [len(rows)]


@says("in all <n> repetitions the causes add up")
def _add_up(told: Told, *_: Slot) -> Expected:
    rows = _meant(told)
    assert (rows["unaccounted"] == 0).all(), "they do not"
    return [len(rows)]


@says(
    "Up to <n> datagrams, <p> of those sent, were lost or found without a cause",
    "Up to <n> datagram, <p> of those sent, were lost or found without a cause",
)
def _without_cause(told: Told, *_: Slot) -> Expected:
    rows = _meant(told)
    off = rows["unaccounted"].abs()
    return [int(off.max()), float((off / rows["sent"]).max())]


@says(
    "In <n> repetitions the receivers had not read all in time",
    "In <n> repetition the receivers had not read all in time",
)
def _not_drained(told: Told, *_: Slot) -> Expected:
    return [int((~_meant(told)["drained"].astype(bool)).sum())]


def _less(told: Told) -> pd.Series:
    """Return by which share of what was sent iperf3 counts fewer losses than the kernel."""
    rows = told.run.driven("datagrams").dropna(subset="driver_lost")
    return (rows["kernel_lost"] - rows["driver_lost"]) / rows["kernel_sent"]


@says("agrees with the kernel's within <p> of what was sent, in all of <n> repetitions")
def _agrees(told: Told, *_: Slot) -> Expected:
    less = _less(told)
    assert (less.abs() <= _LOSS_DIFFERS).all(), f"it is up to {less.abs().max():.3g} off"
    return [_LOSS_DIFFERS, len(less)]


@says(
    "by more than <p> of what was sent in <n> repetitions of <n>",
    "by more than <p> of what was sent in <n> repetition of <n>",
)
def _differs(told: Told, *_: Slot) -> Expected:
    less = _less(told)
    return [_LOSS_DIFFERS, int((less.abs() > _LOSS_DIFFERS).sum()), len(less)]


@says("It is always too small, by up to <p> of what was sent")
def _too_small(told: Told, *_: Slot) -> Expected:
    less = _less(told)
    assert (less >= -_LOSS_DIFFERS).all(), "it is too large in some"
    return [less.max()]


@says("It is always too large, by up to <p> of what was sent")
def _too_large(told: Told, *_: Slot) -> Expected:
    less = _less(told)
    assert (less <= _LOSS_DIFFERS).all(), "it is too small in some"
    return [-less.min()]


@says("It is too large by up to <p> of what was sent, and too small by up to <p>")
def _both_ways(told: Told, *_: Slot) -> Expected:
    less = _less(told)
    return [-less.min(), less.max()]


@says(
    "In <n> repetition iperf3 reported a negative number of losses",
    "In <n> repetitions iperf3 reported a negative number of losses",
)
def _negative(told: Told, *_: Slot) -> Expected:
    return [int((told.run.driven("datagrams")["driver_lost"] < 0).sum())]


@says(
    "It reported datagrams out of order in <n> repetition",
    "It reported datagrams out of order in <n> repetitions",
)
def _out_of_order(told: Told, *_: Slot) -> Expected:
    return [int((told.run.driven("datagrams")["driver_out_of_order"] > 0).sum())]


# ---------------------------------------------------------------- what a datagram costs


def ns_each(rows: pd.DataFrame, side: str) -> pd.Series:
    """Return a side's CPU time per datagram sent, or received [ns]."""
    bits = rows["sent_bits_per_s" if side == "sender" else "bits_per_s"]
    return rows[side] / 100.0 * 1e9 / (bits / 8.0 / rows["msg_bytes"])


@says("In brackets: <p> intervals")
def _brackets(told: Told, *_: Slot) -> Expected:
    return [told.run.config["statistics"]["confidence"]]


def _fit(told: Told) -> TwoTerms:
    text = f"{told.sentence.before} {told.sentence.text}"
    side = re.findall(r"the (sender|receiver)(?:'s cost| needs)", text)[-1]
    rows = curve_of(told)[1]
    rows = rows.assign(ns=ns_each(rows, side))
    found = two_terms(rows, "ns", told.run.settings.confidence)
    assert found is not None, "there are fewer than two sizes"
    return found


def _says_terms(which: str, words: str, *names: str) -> None:
    """Name a sentence with some of the terms, with their intervals and without."""
    forms = [
        words.format(*(f"<x> ns{interval} per {name}" for name in ("datagram", "byte")))
        for interval in (" <e>", "")
    ]

    @says(*forms)
    def _terms(told: Told, *slots: Slot) -> Expected:
        found = _fit(told)
        assert kind(found) == which, f"it is {kind(found)}"
        terms = [getattr(found, name) for name in names]
        if len(slots) == len(terms):
            return [one.value for one in terms]
        return [each for one in terms for each in (one.value, one)]


_says_terms("per datagram", "needs {0}, and no cost per byte is seen", "fixed")
_says_terms("per byte", "needs {1}, and no cost per datagram is seen", "per_byte")
_says_terms("both", "needs {0} and {1}", "fixed", "per_byte")


@says("cost is no such sum: the best fit is <p> off at one size")
def _no_sum(told: Told, *_: Slot) -> Expected:
    found = _fit(told)
    assert kind(found) == "no sum", f"it is {kind(found)}"
    return [found.misfit]


@says("Neither a cost per datagram nor one per byte is seen")
def _neither(told: Told) -> Expected:
    assert kind(_fit(told)) == "neither", f"it is {kind(_fit(told))}"
    return []


@says(
    "Up to <size> (<span>) the datagram costs it more than its bytes",
    "Up to <size> the datagram costs it more than its bytes",
)
def _even(told: Told, *slots: Slot) -> Expected:
    found = _fit(told).even
    return [found.value, (found.low, found.high)][: len(slots)]


@says("At every size the datagram costs it more than its bytes")
def _always(told: Told) -> Expected:
    found = _fit(told).even
    assert found.low > _MOST_BYTES, f"up to {found.low:.0f} B"
    return []


_SHARE = r"([^:,]+?) ((?:under )?[\d.]+ %)(?=, |\.?$)"


@says(
    *(
        f"{side}, <size>, <impl> with <n> {streams}{variant}: <shares>"
        for side in ("Sender", "Receiver")
        for streams in ("stream", "streams")
        for variant in ("", " (emulated)")
    )
)
def _shares_of(told: Told, size: int, testbed: str, n_threads: int, text: str) -> Expected:
    side = told.sentence.text.partition(",")[0].lower()
    assert side in SIDES
    (name,) = {
        one.key[1] for one in told.run.profile.repetitions
        if (one.key[0], one.key[2], one.key[3]) == (testbed, size, n_threads)
    }  # fmt: skip
    cell = told.run.profile.cell(slug_of((testbed, name, size, n_threads)))
    here = [one.own_shares(side) for one in cell if side in one.stacks]
    medians = {
        title.lower(): float(np.median([one[title] for one in here]))
        for title in {title for one in here for title in one}
    }
    return [
        size,
        None,
        n_threads,
        [medians[title.strip()] for title, _ in re.findall(_SHARE, text)],
    ]
