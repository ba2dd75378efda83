"""What datagrams between guests cost inside and outside, and where they were lost."""

from tools.recompute.sentences.cpu_budget import curve_of, side_of, span_of
from tools.recompute.told import Expected, Slot, Told, says


@says("The virtualisation overhead is <ps> of a CPU")
def _overhead(told: Told, *_: Slot) -> Expected:
    return [span_of(told, f"{side_of(told)}_overhead")]


@says("<n> datagrams of <n> were lost")
def _lost(told: Told, *_: Slot) -> Expected:
    rows = curve_of(told)[1]
    return [int(rows["lost"].sum()), int(rows["sent"].sum())]


@says("Of all that was lost, <p> found no room in the receive buffer")
def _no_room(told: Told, *_: Slot) -> Expected:
    rows = curve_of(told)[1]
    return [rows["lost_receive_buffer"].sum() / rows["lost"].sum()]
