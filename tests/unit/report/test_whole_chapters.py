"""Chapters of a run as they are when somebody last read them: within one machine, and beyond it."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from analysed import inputs_of
from golden.compare import GOLDEN, golden_text
from golden.sentences import environment
from report.example import REPORT, sources_of, write_inputs
from synthetic import Run, Udp, make_cells
from synthetic.guests import in_guests, round_trips_in_guests
from synthetic.round_trips import RoundTrips, make_round_trips, round_trips_config
from synthetic.surroundings import make_memory
from wires import other_machine, over_wire

from copycost.report.write import build_context, write_report
from copycost.studies.streams.facts import Inputs
from tools.recompute.numbers import without_source, wrong_numbers

SMALL = {"msg_bytes": (65536,), "n_threads": (1,), "repetitions": 5, "noise": 0.01}
NASTY = "unshare: not permitted | <EPERM> a_b*c*"
TRIPS = RoundTrips(implementations=("two_copy", "zero_copy"), msg_bytes=(64, 65536), noise=0.01)
FIGURES = ("over_wire", "virtual_machines", "memory_floor", "round_trips")


def with_trips(run: Run, cells: pd.DataFrame, trips: pd.DataFrame, *testbeds: str) -> Inputs:
    inputs = inputs_of(run, cells)
    section = round_trips_config(TRIPS) | {"testbeds": list(testbeds)}
    return replace(inputs, round_trips=trips, config=inputs.config | {"round_trips": section})


def within_one_machine() -> Inputs:
    """Return a run with everything that one machine shows; a part failed, a part was skipped."""
    run = Run(
        **SMALL,
        testbeds=("veth", "loopback"),
        implementations=("two_copy", "one_copy", "zero_copy", "sendmmsg_x16"),
        placements=("apart", "same"),
        failed=lambda name, size, n_threads, rep: (name, rep) == ("one_copy", 3),
        skipped={"loopback": NASTY},
        warnings=lambda name, size, n_threads, rep: "steal" if rep == 2 else "",
        udp=Udp(implementations=("two_copy", "zero_copy"), msg_bytes=(16384,)),
    )
    made = with_trips(run, make_cells(run), make_round_trips(TRIPS), "veth")
    return replace(made, memory=make_memory())


def over_the_wire() -> Inputs:
    """Return a run between two machines, in which packets were lost and a limit held UDP."""
    udp = Udp(testbeds=("wire_udp-lab2",), msg_bytes=(1400,), working_sets=("hot",), lost_share=0.1)
    run = Run(
        **SMALL,
        testbeds=("wire-lab2",),
        udp=udp,
        changes={"mss_bytes": 1448.0},
        copied_share=lambda size: 0.0,
    )
    cells = make_cells(run)
    sent = 8e9 * cells["msg_bytes"] * cells["n_threads"] / cells["service_mean_ns"]
    limit = (sent / 0.97).where(cells["testbed"] == "wire_udp-lab2")
    cells = over_wire(cells, tcp_retransmits=3.0, receiver_device_rx_dropped=2.0)
    peer = other_machine(speed_mbit_per_s=400_000)
    peer["wire"]["here"]["speed_mbit_per_s"] = 400_000
    return replace(inputs_of(run, cells.assign(rate_limit_bits_per_s=limit)), peers={"lab2": peer})


def between_guests() -> Inputs:
    """Return a run in emulated guests and without them."""
    run = Run(**SMALL, testbeds=("veth", "vm_pair"), implementations=("two_copy", "zero_copy"))
    trips = round_trips_in_guests(TRIPS)
    return with_trips(run, in_guests(make_cells(run)), trips, "veth", "vm_pair")


RUNS = {
    "one_machine": (
        within_one_machine,
        ("decisions", "round_trips", "limits", "method", "memory", "round_trips_table"),
    ),
    "wire": (over_the_wire, ("decisions", "wire", "limits")),
    "virtual": (between_guests, ("virtual", "limits")),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_chapters_are_the_golden_ones_and_every_number_reads_as_its_source(
    name: str, tmp_path: Path
) -> None:
    made, chapters = RUNS[name]
    write_inputs(made(), tmp_path)
    (tmp_path / "report").mkdir()
    assert write_report(sources_of(tmp_path), REPORT, "T", tmp_path / "report/report.qmd") == {}
    assert [*wrong_numbers(tmp_path), *without_source(tmp_path)] == []
    folder = tmp_path / "figures" / "all"
    folder.mkdir(parents=True)
    for figure in FIGURES:
        (folder / f"{figure}.csv").write_text("state\nmeasured\n")
        (folder / f"{figure}.svg").write_text("<svg/>")
    context: Mapping[str, Any] = build_context(sources_of(tmp_path), "T")
    texts = (environment().get_template(f"{each}.qmd.j2").render(context) for each in chapters)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(texts)).replace("\N{NO-BREAK SPACE}", " ")
    assert "nan" not in json.dumps(text).split()
    assert text == golden_text(GOLDEN / "report" / f"{name}.md", text)
