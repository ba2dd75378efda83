"""What virtual machines cost, inside and outside."""

import re

import pandas as pd

from tools.recompute import estimates
from tools.recompute.profile import slug_of
from tools.recompute.profile_tables import outside_work
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says, says_opposed
from tools.recompute.virtual import PROCESSES, SIDES, apart, outside, over

_KINDS = {
    "virtual CPUs": "vcpu",
    "QEMU's main loop and I/O threads": "io",
    "vhost, in the kernel": "vhost",
    "QEMU's other threads": "worker",
}


def _guests(told: Told) -> str:
    """Return the condition in guests that was named last."""
    named = re.findall(r"`(vm_\w+)`", f"{told.sentence.before} {told.sentence.text}")
    if not named:
        raise NotRecomputedError("no condition in guests was named")
    return str(named[-1])


def pooled(told: Told, quantity: str) -> Expected:
    """Return the ratio over the cells together, and the logarithms behind it."""
    logs = _logs(told, quantity)
    return [told.run.pooled(logs), logs]


def _logs(told: Told, quantity: str) -> pd.DataFrame:
    found = over(told.run, _guests(told), quantity)
    return found.dropna(how="all").dropna(axis="columns", how="all")


@says("this host <d>: what that makes is part of every ratio")
def _release(told: Told, _d: str) -> Expected:
    return [float(told.run.host["kernel"]["release"])]


@says(
    "Over <n> cells together, throughput on <impl> (emulated) was <x> times that on <impl> <i>",
    "Over <n> cells together, throughput on <impl> was <x> times that on <impl> <i>",
)
def _throughput(told: Told, *_: Slot) -> Expected:
    found, logs = pooled(told, "throughput")
    return [len(logs), None, found.value, None, found]


@says("the two processes took <x> times as much CPU time <i>, as their own kernels count it")
def _inside(told: Told, *_: Slot) -> Expected:
    found, _logs = pooled(told, "inside")
    return [found.value, found]


@says(
    *(
        f"{who} took <x> times as much for it as the two processes take on <impl> <i>"
        for who in ("The hypervisors", "The hypervisor, with the process outside of guests,")
    )
)
def _outside(told: Told, *_: Slot) -> Expected:
    found, _logs = pooled(told, "outside")
    return [found.value, None, found]


@says_opposed(
    "Throughput on <impl> (emulated) was higher than on <impl>",
    "Throughput on <impl> was higher than on <impl>",
    less="lower",
)
def _throughput_opposed(told: Told, *_: Slot) -> pd.DataFrame:
    return _logs(told, "throughput")


@says_opposed("the two processes took more CPU time than on <impl>", less="less")
def _inside_opposed(told: Told, *_: Slot) -> pd.DataFrame:
    return _logs(told, "inside")


@says_opposed(
    "The hypervisors took more for it than the two processes take on <impl>",
    "The hypervisor, with the process outside of guests, took more for it than the two processes "
    "take on <impl>",
    "Outside of the guests, a byte took more CPU time than the two processes take there",
    less="less",
)
def _outside_opposed(told: Told, *_: Slot) -> pd.DataFrame:
    return _logs(told, "outside")


@says("Packets are of up to <size> on <impl> and of up to <size> on <impl> (MTU)")
def _mtus(told: Told, _a: int, here: str, _b: int, there: str) -> Expected:
    run = told.run
    sizes = [run.measured(name)["mtu_bytes"].max() for name in (here, there)]
    return [sizes[0], None, sizes[1], None]


def _mean_share(told: Told, part: str, whole: str) -> float:
    """Return the mean over the cells of each round, and over these, of what both have."""
    rows = told.run.measured(_guests(told))
    values = {
        "outside": outside(rows),
        "apart": apart(rows),
        "within": rows[PROCESSES].astype(float) - apart(rows),
    }

    def column(name: str) -> pd.Series:
        if name in values:
            return values[name]
        if name == "stalled":
            sides = [side for side in SIDES if f"{side}_vcpu_cpu_ns_per_byte" in rows]
            more = {
                side: rows[f"{side}_guest_cpu_ns_per_byte"] - rows[f"{side}_vcpu_cpu_ns_per_byte"]
                for side in sides
                if rows[f"{side}_vcpu_cpu_ns_per_byte"].notna().any()
            }
            return pd.DataFrame(more).clip(lower=0.0).sum(axis=1, skipna=False)
        names = [f"{side}_{name}_cpu_ns_per_byte" for side in SIDES]
        known = [one for one in names if one in rows and rows[one].notna().any()]
        return rows[known].astype(float).sum(axis=1, skipna=False)

    shares = rows.assign(share=column(part) / column(whole))
    wide = shares.pivot(
        index=["implementation", "msg_bytes", "n_threads"], columns="rep", values="share"
    )
    return float(estimates.block(wide).mean().mean())


def _says_part(words: str, part: str) -> None:
    @says(f"{words} (<p>)")
    def _share(told: Told, _p: Slot) -> Expected:
        return [_mean_share(told, part, "outside")]


for _words, _kind in {**_KINDS, "the process outside of guests": "apart"}.items():
    _says_part(_words, _kind)


@says("count themselves busy, <p> is that of the processes in them")
def _within(told: Told, *_: Slot) -> Expected:
    return [_mean_share(told, "within", "guest")]


@says("<p> of the time for which the guests count themselves busy is more than their virtual CPUs")
def _stalled(told: Told, *_: Slot) -> Expected:
    return [_mean_share(told, "stalled", "guest")]


@says(
    *(
        f"Of the hypervisors' CPU time on <impl>{emulated}, copies take <ps>, exits from the "
        "guests and entries <ps>, events and wake-ups <ps>, the emulator <ps> and all else <ps>, "
        f"over <n> profiled {noun}"
        for emulated in (" (emulated)", "")
        for noun in ("cells", "cell")
    )
)
def _work(told: Told, condition: str, *_: Slot) -> Expected:
    profile = told.run.profile
    keys = {one.key for one in profile.repetitions if one.key[0] == condition}
    shares = [outside_work(profile.cell(slug_of(key))) for key in sorted(keys)]
    spans = [(min(of), max(of)) for of in zip(*shares, strict=True)]
    return [None, *spans, len(keys)]


@says("the guest's kernel copied <p> of what <impl> sent")
def _copied(told: Told, _p: Slot, name: str) -> Expected:
    rows = told.run.measured(_guests(told))
    rows = rows[rows["implementation"] == name]
    return [float(rows["zc_copied"].sum() / rows["zc_completed"].sum()), None]
