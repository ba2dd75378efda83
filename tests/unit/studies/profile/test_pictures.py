"""Flame graphs: well-formed, to scale, and drawn from the numbers next to them."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest
from unit.studies.profile.made import (
    BOTH,
    IN_ONE_GUEST,
    LISTS,
    PAIR,
    PAIR_CPU_S,
    SENDER,
    Cell,
    repetitions_of,
)

from copycost.studies.profile.flame import WIDTH, draw_all, flame_graph
from copycost.studies.profile.functions import Stack
from copycost.studies.profile.grid import figure_names

SVG = "{http://www.w3.org/2000/svg}"


def stacks_of(shares: dict[str, int]) -> dict[Stack, float]:
    return {tuple(stack.split(";")): float(share) for stack, share in shares.items()}


def boxes(svg: str) -> dict[str, dict[str, str]]:
    """Return the box of a frame by its name, the last of those that have the same."""
    groups = ET.fromstring(svg).iter(f"{SVG}g")
    return {one.attrib["data-name"]: next(one.iter(f"{SVG}rect")).attrib for one in groups}


def test_frames_are_as_wide_as_their_share_and_locks_have_the_colour_of_their_caller() -> None:
    found = boxes(flame_graph("title", "sender", stacks_of(SENDER), LISTS.categories))
    shares = {"sender": 1.0, "_copy_from_iter": 0.5, "sock_def_readable": 0.15}
    widths = {name: float(found[name]["width"]) / WIDTH for name in shares}
    assert widths == pytest.approx(shares, abs=0.001)
    lock = found["_raw_spin_unlock_irqrestore"]
    assert lock["fill"] == found["sock_def_readable"]["fill"]


def test_odd_names_are_escaped() -> None:
    name = 'std::vector<int, "x">::f(a & b)'
    assert name in boxes(flame_graph("a < b & c", "sender", {(name,): 1.0}, LISTS.categories))


def test_every_party_of_a_cell_has_a_picture_with_its_numbers(tmp_path: Path) -> None:
    loopback = {"sender": 0.5, "receiver": 0.3, "guest": 0.1, "qemu": 0.95}
    cells = [
        Cell("two_copy", BOTH),
        Cell("one_copy", {}, status="skipped", reason="no right to sample", remedy="run as root"),
        Cell("two_copy", PAIR, testbed="vm_pair", accelerator="tcg", cpu_s=PAIR_CPU_S),
        Cell("zero_copy", IN_ONE_GUEST, testbed="vm_loopback", accelerator="tcg", cpu_s=loopback),
    ]
    draw_all(repetitions_of(cells), LISTS.categories, tmp_path)
    keys = {one.key for one in repetitions_of(cells)}
    names = figure_names(keys)
    assert {path.stem for path in tmp_path.iterdir()} == set(names)
    assert len(names) == 2 + 2 + len(PAIR) + len(IN_ONE_GUEST)
    for name in names:
        ET.parse(tmp_path / f"{name}.svg")
        states = pd.read_csv(tmp_path / f"{name}.csv")["state"]
        assert ("measured" in set(states)) == ("one_copy" not in name)
    svg = (tmp_path / "flame_vm_pair_two_copy_65536_1_sender_qemu.svg").read_text()
    assert "vm_pair, emulated: sender's QEMU" in svg
    assert boxes(svg).keys() >= {"virtual CPUs", "main loop and I/O", "tun_get_user"}
