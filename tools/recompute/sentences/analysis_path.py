"""The path of the bytes: packets, caches, segments sent again."""

from tools.recompute.told import Expected, Slot, Told, says


@says("the path takes packets of up to <size>")
def _packets(told: Told, _size: int) -> Expected:
    return [told.run.measured(told.condition)["mtu_bytes"].max()]


@says("TSO and GSO were on in <p> of the repetitions")
def _offloaded(told: Told, _p: str) -> Expected:
    return [told.run.measured(told.condition)["offloaded"].astype(float).mean()]


@says("the largest message and its copy are <about>")
@says("the largest message and its copy (<about>)")
def _largest(told: Told, _size: str) -> Expected:
    return [2 * told.run.measured(told.condition)["msg_bytes"].max()]


@says("walk a ring of messages, <size> in all, which is <x> times the last-level cache")
def _ring(told: Told, *_: Slot) -> Expected:
    ring = told.run.measured(told.condition)["ring_bytes"].max()
    return [ring, ring / told.run.host["cpu"]["caches"]["llc_bytes"]]


@says("The ring of messages is <x> times the last-level cache")
def _ring_again(told: Told, *_: Slot) -> Expected:
    return _ring(told)[1:]


@says("(<x> times its <size>)", "(<p> of its <size>)", "(<p> of its <size> for <threads>)")
def _of_cache(told: Told, _share: str, size: int, threads: Slot = (1,)) -> Expected:
    assert size in told.run.host["cpu"]["caches"].values(), "no cache is that large"
    both = 2 * int(told.run.measured(told.condition)["msg_bytes"].max()) * threads[0]
    return [both / size, None, None]


@says("together, <x> segments per gigabyte were sent again")
@says("with `two_copy` and `one_copy`, <x> per gigabyte were sent again")
def _sent_again(told: Told, _x: str) -> Expected:
    rows = told.run.measured(told.condition)
    rows = rows[rows["implementation"].isin(["two_copy", "one_copy"])]
    return [rows["tcp_retransmits"].sum() / rows["received_bytes"].sum() * 1e9]
