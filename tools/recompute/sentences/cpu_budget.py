"""What a CPU budget buys, who used it, and what ended the growth.

Datagrams say in like words what was used inside of guests and outside.
"""

import re

import numpy as np
import pandas as pd

from tools.recompute import budget
from tools.recompute.driven import CURVE, MISSED, POINT, SIDES, curves, named_rows
from tools.recompute.driven_tables import HERE, published
from tools.recompute.estimates import Estimate
from tools.recompute.run import Run
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says

_SECTIONS = {"sec-budget": "cpu_budget", "sec-cpu": "cpu_budget", "sec-datagrams": "datagrams"}
_CLOCKS_AGREE = 2.0
_RATES_AGREE = 0.05
_NO_LIMIT = 100


def study_of(told: Told) -> str:
    """Return which study's chapter a sentence stands in."""
    section = "-".join(told.sentence.section.split("-")[:2])
    if section not in _SECTIONS:
        raise NotRecomputedError("this is no chapter of such a study")
    return _SECTIONS[section]


def curve_of(told: Told) -> tuple[str, pd.DataFrame]:
    """Return the study, and the repetitions of the curve that was named last."""
    named = CURVE.findall(f"{told.sentence.before} {told.sentence.text}")
    study = study_of(told)
    if not named:
        raise NotRecomputedError("no curve was named")
    return study, named_rows(told.run.driven(study), *named[-1])


def rate(found: Estimate, text: str) -> Estimate:
    """Return a rate [bit/s] in the unit of a text."""
    return found.over(1e6 if "Mbit/s" in text else 1e9)


@says("on <impl> with <n> stream", "on <impl> with <n> streams")
@says("<impl> with <n> stream", "<impl> with <n> streams")
def _named(told: Told, *_: Slot) -> Expected:
    _study, rows = curve_of(told)
    return [None, int(rows["n_threads"].iloc[0])]


# ---------------------------------------------------------------- how it was measured


@says(
    "the bitrate was measured over TCP, with <size> per write, in <n> repetitions",
    "the bitrate was measured over TCP, with <size> per write, in <n> repetition",
)
def _measured(told: Told, *_: Slot) -> Expected:
    section = told.run.config["cpu_budget"]
    return [section["msg_bytes"], section["repetitions"]]


@says("from before the warm-up of <time> to after the window of <time>")
def _window(told: Told, *_: Slot) -> Expected:
    section = told.run.config["cpu_budget"]
    return [section["warmup_s"], section["duration_s"]]


@says("sent by iperf3 <d>")
def _version(told: Told, *_: Slot) -> Expected:
    return [version(told.run, "cpu_budget")]


def version(run: Run, study: str) -> float:
    """Return the version of iperf3 where all repetitions have the same one."""
    (found,) = set(run.driven(study)["version"].dropna())
    return float(found)


@says(
    "the quota of a control group (version <n>)",
    *(
        f"the quota of a control group (version <n>){and_} the quota of a control group (version"
        " <n>)"
        for and_ in (",", " or")
    ),
)
def _kinds(told: Told, *slots: Slot) -> Expected:
    kinds = sorted(set(told.run.driven("cpu_budget")["kind"]))
    versions = [int(kind[-1]) for kind in kinds if kind.startswith("cgroup v")]
    assert len(versions) == len(slots), f"control groups of the versions {versions}"
    return versions


@says(
    "In <n> repetition of <n> other programs used CPU at the same time",
    "In <n> repetitions of <n> other programs used CPU at the same time",
)
def _foreign(told: Told, *_: Slot) -> Expected:
    rows = told.run.driven(study_of(told))
    return [int(rows["foreign"].sum()), len(rows)]


# ---------------------------------------------------------------- limiter, clocks, rates


@says("<x> to <x>")
def _off(told: Told, *_: Slot) -> Expected:
    if told.sentence.section != "sec-budget-limiter" or not CURVE.match(told.sentence.text):
        raise NotRecomputedError("this is not by how much a limiter was off")
    rows = curve_of(told)[1]
    rows = rows[(rows["limit_percent"] != _NO_LIMIT) & ~rows["saturated"]]
    off = rows["sender"] / rows["n_threads"] - rows["limit_percent"]
    return [off.min(), off.max()]


@says(
    "It missed by more than <n> points in <n> repetition",
    "It missed by more than <n> points in <n> repetitions",
)
def _missed(told: Told, *_: Slot) -> Expected:
    return [int(MISSED), int(curve_of(told)[1]["missed"].sum())]


@says("No repetition missed the limit by more than <n> points")
def _none_missed(told: Told, *_: Slot) -> Expected:
    n_missed = int(told.run.driven("cpu_budget")["missed"].sum())
    assert n_missed == 0, f"{n_missed} missed it"
    return [int(MISSED)]


def _clocks(rows: pd.DataFrame, side: str) -> tuple[float, float]:
    """Return by how much perf says less than the scheduler [points], and what share it says."""
    scheduler, perf = rows[f"{side}_by_scheduler"], rows[f"{side}_by_perf"]
    return float((scheduler - perf).median()), float((perf / scheduler).median())


@says(
    *(f"For the {side} it differs most on <impl> with <n> {word}" for side in SIDES
      for word in ("stream", "streams"))
)  # fmt: skip
def _differ_most(told: Told, *_: Slot) -> Expected:
    (side,) = re.findall(r"For the (\w+) it differs", told.sentence.text)
    here = _clocks(curve_of(told)[1], side)
    every = [abs(_clocks(of, side)[0]) for _, of in curves(told.run.driven("cpu_budget"))]
    assert abs(here[0]) == max(every) > _CLOCKS_AGREE, f"{here[0]:.3g} of {every}"
    return [None, int(curve_of(told)[1]["n_threads"].iloc[0])]


@says("there it shows <p> of what the scheduler's does (median)")
def _shows(told: Told, *_: Slot) -> Expected:
    (side,) = re.findall(r"For the (\w+) it differs", told.sentence.text)
    return [_clocks(curve_of(told)[1], side)[1]]


@says("on no curve are the medians further apart than <n> points")
def _clocks_agree(told: Told, *_: Slot) -> Expected:
    off = [
        abs(_clocks(of, side)[0])
        for _, of in curves(told.run.driven("cpu_budget"))
        for side in SIDES
    ]
    assert np.nanmax(off) <= _CLOCKS_AGREE, f"they are {np.nanmax(off):.3g} apart"
    return [int(_CLOCKS_AGREE)]


def _off_kernel(told: Told) -> pd.Series:
    rows = told.run.driven("cpu_budget")
    return abs(rows["bits_per_s"] / rows["kernel_bits_per_s"] - 1.0).dropna()


@says(
    "by more than <p> in <n> repetitions of <n>, at most by <p>",
    "by more than <p> in <n> repetition of <n>, at most by <p>",
)
def _rates_differ(told: Told, *_: Slot) -> Expected:
    off = _off_kernel(told)
    return [_RATES_AGREE, int((off > _RATES_AGREE).sum()), len(off), off.max()]


@says("agrees with the kernel's count of what was read within <p>")
def _rates_agree(told: Told, *_: Slot) -> Expected:
    return [_off_kernel(told).max()]


# ---------------------------------------------------------------- lines


@says("On <impl> with <n> stream no three steps make a line", "no three steps make a line")
def _no_line(told: Told, *slots: Slot) -> Expected:
    rows = curve_of(told)[1]
    assert budget.line(rows, "sender", told.run.settings.confidence) is None, "there is one"
    return [None, int(rows["n_threads"].iloc[0])][: len(slots)]


@says(
    "the steps of <ints> % lie off the line of the lower ones",
    "the step of <ints> % lies off the line of the lower ones",
)
def _beyond(told: Told, *_: Slot) -> Expected:
    found = budget.line(curve_of(told)[1], "sender", told.run.settings.confidence)
    assert found is not None, "there is no line"
    return [found.beyond]


# ---------------------------------------------------------------- inside and outside of guests


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


# ---------------------------------------------------------------- the highest bitrate


def _at_most_bits(told: Told) -> pd.Series:
    """Return the medians at the point of the highest bitrate."""
    return budget.top(curve_of(told)[1]).select_dtypes("number").median()


def _n_cpus(told: Told) -> int:
    return int(told.run.host["cpu"]["cpus_online"])


def _ended_by(told: Told, *kinds: str) -> None:
    """Refuse a sentence that names something else as the end of the growth."""
    found = budget.bottleneck(curve_of(told)[1], _n_cpus(told))
    assert found in kinds, f"it is {found}"


@says(
    "the highest bitrate was <rate> <i>, with <p> of a CPU offered per stream",
    "the highest bitrate was <rate>, with <p> of a CPU offered per stream",
)
def _highest(told: Told, text: str, *slots: Slot) -> Expected:
    of = budget.top(curve_of(told)[1])
    found = told.run.median_of(of["bits_per_s"])
    interval = [rate(found, text)] if len(slots) > 1 else []
    return [found.value, *interval, of["limit_percent"].iloc[0] / 100.0]


@says("There the senders used <p> and the receivers <p> of a CPU per stream")
def _used_there(told: Told, *_: Slot) -> Expected:
    middle = _at_most_bits(told)
    return [middle[side] / middle["n_threads"] / 100.0 for side in SIDES]


def _says_end(words: str, *kinds: str) -> None:
    @says(words)
    def _end(told: Told) -> Expected:
        _ended_by(told, *kinds)
        return []


for _words, _end_kind in {
    "The sender's CPU is the bottleneck": "sender",
    "The receiver's CPU is the bottleneck": "receiver",
    "Both sides' CPUs are full": "both",
    "The limit itself was the bottleneck": "limit",
    "Neither side's CPU was full and none waited for one": "unknown",
}.items():
    _says_end(_words, _end_kind)

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
    _ended_by(told, kind)
    middle, side = _at_most_bits(told), _whose(told)
    n_threads = middle[f"{side}_vcpus"] if kind == "vcpu" else 1.0
    busy = middle[f"{side}_{kind}"] + middle[f"{side}_{kind}_waiting"]
    return [busy / n_threads / 100.0]


@says(
    *(
        f"The host's kernel thread that moves the packets of {guest} (vhost) ran for <p> of the"
        " time"
        for guest in _GUESTS
    )
)
def _full_in_kernel(told: Told, *_: Slot) -> Expected:
    _ended_by(told, "vhost")
    return [_at_most_bits(told)[f"{_whose(told)}_vhost"] / 100.0]


@says(
    *(
        f"The virtual CPUs of {guest} could have run but had no CPU of this host for <p> of the"
        " time"
        for guest in _GUESTS
    )
)
def _had_none(told: Told, *_: Slot) -> Expected:
    _ended_by(told, "vcpu_waiting")
    middle, side = _at_most_bits(told), _whose(told)
    return [middle[f"{side}_vcpu_waiting"] / middle[f"{side}_vcpus"] / 100.0]


@says("All that ran used <p> of the <n> CPUs of this host")
def _host(told: Told, *_: Slot) -> Expected:
    _ended_by(told, "host", "vcpu_waiting")
    return [_at_most_bits(told)["host"] / _n_cpus(told) / 100.0, _n_cpus(told)]


@says(
    "Together they used <p> of the <n> CPUs of this host",
    "Both together used <p> of the <n> CPUs of this host",
)
def _together(told: Told, *_: Slot) -> Expected:
    _ended_by(told, "host", "waiting")
    middle = _at_most_bits(told)
    used = middle["sender"] + middle["receiver"]
    return [used / _n_cpus(told) / 100.0, _n_cpus(told)]


@says("They could have run but had no CPU for <p> and <p> of the time")
def _waited_both(told: Told, *_: Slot) -> Expected:
    _ended_by(told, "waiting")
    middle = _at_most_bits(told)
    return [middle[f"{side}_waiting"] / middle["n_threads"] / 100.0 for side in SIDES]


@says("With <ints> % offered, the senders left more than <n> points per stream of it unused")
def _unused(told: Told, *_: Slot) -> Expected:
    return [tuple(budget.saturated(curve_of(told)[1])), int(MISSED)]


# ---------------------------------------------------------------- several streams


def _like_one(told: Told) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the repetitions of a curve, and of the same with one stream."""
    rows = curve_of(told)[1]
    first = rows.iloc[0]
    every = told.run.driven("cpu_budget")
    same = [every[name] == first[name] for name in ("testbed", "implementation", "limiter")]
    return rows, every[np.logical_and.reduce(same) & (every["n_threads"] == 1)]


def _quotient(above: Estimate, below: Estimate) -> Estimate:
    """Return a ratio; its interval has those of both, on logarithms."""
    value = above.value / below.value
    if not min(above.low, below.low) > 0:
        return Estimate(value)
    off = {
        end: float(np.hypot(*(np.log(getattr(one, of) / one.value) for one, of in ends)))
        for end, ends in {
            "low": ((above, "low"), (below, "high")),
            "high": ((above, "high"), (below, "low")),
        }.items()
    }
    low, high = value * np.exp(-off["low"]), value * np.exp(off["high"])
    scatter = [0.0, 0.0]
    for one in (above, below):
        scatter = [
            sum_ + value * each / one.value for sum_, each in zip(scatter, one.scatter, strict=True)
        ]
    return Estimate(value, float(low), float(high), n=2, scatter=(scatter[0], scatter[1]))


def _more_bits(told: Told) -> Estimate:
    many, one = (told.run.median_of(budget.top(of)["bits_per_s"]) for of in _like_one(told))
    return _quotient(many, one)


def _more_for_a_cpu(told: Told) -> Estimate:
    lines = [budget.line(of, "sender", told.run.settings.confidence) for of in _like_one(told)]
    assert lines[0] is not None, "there is no line"
    assert lines[1] is not None, "there is no line with one stream"
    return _quotient(lines[0].slope, lines[1].slope)


def _says_ratio(words: str, of: object, *, differs: bool) -> None:
    @says(f"{words} <x> <i> times", f"{words} <x> times")
    def _ratio(told: Told, *slots: Slot) -> Expected:
        found: Estimate = of(told)  # type: ignore[operator]
        assert differs == (found.n == 1 or found.sign != 0), f"it is {found}"
        return [found.value, found][: len(slots)]


_says_ratio("the highest bitrate was", _more_bits, differs=True)
_says_ratio("shows no difference from that of one stream:", _more_bits, differs=False)
_says_ratio("A per cent of the senders' CPU bought", _more_for_a_cpu, differs=True)
_says_ratio(
    "What a per cent of the senders' CPU bought shows no difference:", _more_for_a_cpu,
    differs=False,
)  # fmt: skip


@says(
    "Published for such a path: <x> times the highest bitrate, and <x> times as much per per cent"
)
def _published(told: Told, *_: Slot) -> Expected:
    first = curve_of(told)[1].iloc[0]
    scenario = next(name for name, here in HERE.items() if here == first["testbed"])
    rows = published("tcp")
    rows = rows[rows["scenario"] == scenario].set_index("parallel_streams")
    many, one = rows.loc[first["n_threads"]], rows.loc[1]
    return [many[name] / one[name] for name in ("max_bitrate_gbps", "gbps_per_cpu_percent")]
