"""Flame graphs and the diagram: well-formed, to scale, and drawn from the numbers next to them."""

import csv
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from unit.studies.profile.made import (
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

from copycost.studies.profile.flame import (
    APPLICATION,
    SYSTEM_CALL,
    WIDTH,
    aligned,
    difference_graph,
    fitting,
    flame_graph,
)
from copycost.studies.profile.flame_layout import build_tree, lay_out
from copycost.studies.profile.functions import Stack
from copycost.studies.profile.grid import cell_keys
from copycost.studies.profile.names import figure_names
from copycost.studies.profile.plots import draw_all

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


def test_narrow_frames_are_left_out() -> None:
    top = build_tree("root", {("wide",): 9999.0, ("narrow",): 1.0})
    assert [frame.node.name for frame in lay_out(top, 0.001)] == ["root", "wide"]


def test_what_is_gone_keeps_its_width_in_a_difference() -> None:
    svg = difference_graph("t", "sender", {("gone",): 3.0}, {("new",): 1.0}, "ns/KiB")
    found = frames(svg)
    assert width(found["gone"][0]) == pytest.approx(3 * width(found["new"][0]), rel=0.01)
    tips = {name: next(group[0].iter(f"{SVG}title")).text for name, group in found.items()}
    assert tips["gone"] == "gone: 3 to 0 ns/KiB (-3)"
    red, blue = (next(found[name][0].iter(f"{SVG}rect")).attrib["fill"] for name in ("new", "gone"))
    assert int(red[1:3], 16) > int(red[5:7], 16)
    assert int(blue[1:3], 16) < int(blue[5:7], 16)


def test_ways_into_the_kernel_do_not_set_what_it_does_apart() -> None:
    entry = "entry_SYSCALL_64_after_hwframe_[k]"
    stacks: dict[Stack, float] = {
        ("__send", entry, "__sys_sendto_[k]", "tcp_sendmsg_[k]"): 1.0,
        ("__sendmsg", entry, "__sys_sendmsg_[k]", "tcp_sendmsg_[k]"): 2.0,
        ("__send", entry): 3.0,
        ("main", "__memmove_x"): 4.0,
        ("main",): 5.0,
    }
    assert aligned(stacks, LISTS.categories) == {
        (SYSTEM_CALL, "tcp_sendmsg_[k]"): 3.0,
        (SYSTEM_CALL,): 3.0,
        (APPLICATION, "__memmove_x"): 4.0,
        (APPLICATION,): 5.0,
    }


def test_names_are_cut_to_the_width() -> None:
    assert fitting("tcp_sendmsg", 200) == "tcp_sendmsg"
    assert fitting("tcp_sendmsg", 40) == "tcp_s…"
    assert fitting("tcp_sendmsg", 10) == ""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the pictures of two measured cells and one that is not."""
    cells = [
        Cell("two_copy", {"sender": SENDER, "receiver": RECEIVER}),
        Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}),
        Cell("one_copy", {}, status="skipped", reason="no right to sample", remedy="run as root"),
    ]
    folder = tmp_path_factory.mktemp("figures")
    draw_all(repetitions_of(cells), GRID.profile.differences, LISTS, folder)
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_picture_of_the_grid_is_drawn_with_its_numbers(drawn: Path) -> None:
    names = figure_names(cell_keys(GRID), GRID.profile.differences)
    assert {path.stem for path in drawn.iterdir()} == set(names)
    for name in names:
        ET.parse(drawn / f"{name}.svg")
        states = [row["state"] for row in rows_of(drawn / f"{name}.csv")]
        assert ("measured" in states) == ("one_copy" not in name)


def test_the_diagram_marks_copies_and_leaves_out_what_only_others_do(drawn: Path) -> None:
    boxes = {
        name: {row["box"]: row for row in rows_of(drawn / f"path_veth_{name}_65536_1.csv")}
        for name in ("two_copy", "zero_copy")
    }
    copies = {
        name: {
            box
            for box, row in rows.items()
            if row["copies"] == "True" and row["state"] == "measured"
        }
        for name, rows in boxes.items()
    }
    assert copies["two_copy"] == {"application_copy", "copy_in", "copy_out"}
    assert copies["zero_copy"] == {"deferred_copy", "copy_out"}
    assert boxes["zero_copy"]["deferred_copy"]["function"] == "skb_copy_ubufs"
    assert float(boxes["two_copy"]["copy_in"]["sender_cpu_percent"]) == pytest.approx(40, rel=0.05)
    svg = (drawn / "path_veth_two_copy_65536_1.svg").read_text()
    assert "<text" not in svg  # letters are outlines
    assert svg.count("#d55e00") == 3  # the edges of the three copies


@pytest.fixture(scope="module")
def guests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the pictures of a cell between two guests, and of one within one."""
    loopback = {"sender": 0.5, "receiver": 0.3, "guest": 0.1, "qemu": 0.95}
    cells = [
        Cell("two_copy", PAIR, testbed="vm_pair", accelerator="tcg", cpu_s=PAIR_CPU_S,
             gigabytes=0.3),
        Cell("zero_copy", IN_ONE_GUEST, testbed="vm_loopback", accelerator="tcg", cpu_s=loopback),
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("figures")
    draw_all(repetitions_of(cells), (), LISTS, folder)
    return folder


def test_every_party_of_guests_has_a_flame_graph(guests: Path) -> None:
    names = {path.stem for path in guests.glob("flame_*.svg")}
    assert names == {
        *(f"flame_vm_pair_two_copy_65536_1_{party}" for party in PAIR),
        *(f"flame_vm_loopback_zero_copy_65536_1_{party}" for party in IN_ONE_GUEST),
    }
    svg = (guests / "flame_vm_pair_two_copy_65536_1_sender_qemu.svg").read_text()
    assert "vm_pair, emulated: sender's QEMU" in svg
    assert set(frames(svg)) >= {"virtual CPUs", "main loop and I/O", "tun_get_user"}


def test_the_diagram_numbers_the_copies_between_guests(guests: Path) -> None:
    svg = (guests / "path_vm_pair_two_copy_65536_1.svg").read_text()
    assert svg.count('stroke="#d55e00"') == 6
    rows = {row["box"]: row for row in rows_of(guests / "path_vm_pair_two_copy_65536_1.csv")}
    copies = {
        box for box, row in rows.items() if row["copies"] == "True" and row["state"] == "measured"
    }
    assert copies == {
        *("application_copy", "copy_in", "tap_copy_in"),
        *("tap_copy_out", "hypervisor_copy", "copy_out"),
    }
    assert rows["tap_copy_in"]["function"] == "skb_copy_datagram_from_iter"
    assert float(rows["tap_copy_in"]["sender_qemu_cpu_percent"]) == pytest.approx(6, rel=0.05)
    assert float(rows["tap_copy_in"]["receiver_qemu_cpu_percent"]) == 0.0


def test_within_one_guest_no_copy_is_the_hosts(guests: Path) -> None:
    svg = (guests / "path_vm_loopback_zero_copy_65536_1.svg").read_text()
    assert svg.count('stroke="#d55e00"') == 2  # the deferred one, and that to the application


def test_a_diagram_of_one_machine_has_no_parts_of_a_host(drawn: Path) -> None:
    boxes = {row["box"] for row in rows_of(drawn / "path_veth_two_copy_65536_1.csv")}
    assert "emulator" not in boxes
    assert "bridge" not in boxes
