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
    RECEIVER,
    SENDER,
    ZERO_COPY,
    Cell,
    config,
    repetitions_of,
)

from copycost.studies.profile.flame import WIDTH, draw_all, flame_graph
from copycost.studies.profile.functions import Stack
from copycost.studies.profile.grid import cell_keys, figure_names

GRID = config(implementations=("two_copy", "zero_copy", "one_copy"))
SVG = "{http://www.w3.org/2000/svg}"


def stacks_of(shares: dict[str, int]) -> dict[Stack, float]:
    return {tuple(stack.split(";")): float(share) for stack, share in shares.items()}


def frames(svg: str) -> dict[str, list[ET.Element]]:
    found: dict[str, list[ET.Element]] = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        found.setdefault(group.attrib["data-name"], []).append(group)
    return found


def width(group: ET.Element) -> float:
    (box,) = group.iter(f"{SVG}rect")
    return float(box.attrib["width"])


def test_frames_are_as_wide_as_their_share() -> None:
    found = frames(flame_graph("title", "sender", stacks_of(SENDER), LISTS.categories))
    assert width(found["sender"][0]) == pytest.approx(WIDTH, abs=0.5)
    assert width(found["_copy_from_iter"][0]) == pytest.approx(0.5 * WIDTH, abs=0.5)
    assert width(found["tcp_sendmsg"][0]) == pytest.approx(0.9 * WIDTH, abs=0.5)


def test_odd_names_are_escaped() -> None:
    name = 'std::vector<int, "x">::f(a & b)'
    svg = flame_graph("a < b & c", "sender", {(name,): 1.0}, LISTS.categories)
    assert frames(svg)[name]


def test_a_lock_has_the_colour_of_its_caller() -> None:
    found = frames(flame_graph("t", "sender", stacks_of(SENDER), LISTS.categories))
    colours = [
        next(found[name][0].iter(f"{SVG}rect")).attrib["fill"]
        for name in ("sock_def_readable", "_raw_spin_unlock_irqrestore")
    ]
    assert colours[0] == colours[1]


def test_every_picture_of_the_grid_is_drawn_with_its_numbers(tmp_path: Path) -> None:
    cells = [
        Cell("two_copy", BOTH),
        Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}),
        Cell("one_copy", {}, status="skipped", reason="no right to sample", remedy="run as root"),
    ]
    draw_all(repetitions_of(cells), LISTS.categories, tmp_path)
    names = figure_names(cell_keys(GRID))
    assert {path.stem for path in tmp_path.iterdir()} == set(names)
    for name in names:
        ET.parse(tmp_path / f"{name}.svg")
        states = pd.read_csv(tmp_path / f"{name}.csv")["state"]
        assert ("measured" in set(states)) == ("one_copy" not in name)


def test_every_party_of_guests_has_a_flame_graph(tmp_path: Path) -> None:
    loopback = {"sender": 0.5, "receiver": 0.3, "guest": 0.1, "qemu": 0.95}
    cells = [
        Cell("two_copy", PAIR, testbed="vm_pair", accelerator="tcg", cpu_s=PAIR_CPU_S,
             gigabytes=0.3),
        Cell("zero_copy", IN_ONE_GUEST, testbed="vm_loopback", accelerator="tcg", cpu_s=loopback),
    ]  # fmt: skip
    draw_all(repetitions_of(cells), LISTS.categories, tmp_path)
    assert {path.stem for path in tmp_path.glob("flame_*.svg")} == {
        *(f"flame_vm_pair_two_copy_65536_1_{party}" for party in PAIR),
        *(f"flame_vm_loopback_zero_copy_65536_1_{party}" for party in IN_ONE_GUEST),
    }
    svg = (tmp_path / "flame_vm_pair_two_copy_65536_1_sender_qemu.svg").read_text()
    assert "vm_pair, emulated: sender's QEMU" in svg
    assert set(frames(svg)) >= {"virtual CPUs", "main loop and I/O", "tun_get_user"}
