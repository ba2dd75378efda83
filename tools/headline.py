"""README's figure, from a run: what a byte costs over TCP, and where zero-copy is real.

``PYTHONPATH=workflow python -m tools.headline results`` draws ``docs/headline.svg``, with the data
behind it in ``docs/headline.csv``, and prints what the figure is of.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.analysis.columns import read_table
from copycost.config.checkout import ROOT
from copycost.figures.axes import scale_of, size_axis
from copycost.figures.layout import finish, new_sheet
from copycost.figures.lines import line_panel, missing_strip
from copycost.figures.markers import in_order
from copycost.figures.output import save
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Legend, Quantity, points_of, rows_of
from copycost.figures.text import interval_note

_TITLES = {
    "veth": "TCP over a veth pair,\nboth sides: zero-copy\nsends are copied after all",
    "sink": "UDP, dropped on arrival,\nsender: zero-copy is real;\nbytes from the caches",
    "sink_cold": "UDP, dropped on arrival,\nsender: zero-copy is real;\nbytes from memory",
}
"""The conditions that are drawn, side by side."""

_COST = Quantity("CPU time", "ns/B")
_N_THREADS = 1


@styled
def draw(facts: Mapping[str, Any], summary: pd.DataFrame) -> Drawn:
    """Draw the CPU time of a byte against message size, a panel per condition."""
    known = facts["conditions"]
    names = in_order(facts["grid"]["implementations"])
    parts = [
        points_of(slug, rows_of(summary, slug), names, {known[slug]["cost_column"]: _COST})
        for slug in _TITLES
    ]
    data = pd.concat(parts, ignore_index=True)
    data = data[data["n_threads"] == _N_THREADS].reset_index(drop=True)
    sheet = new_sheet(data, 6.4, column="condition", n_columns=len(_TITLES), share_y=True)
    scale, strip = scale_of(data, "log"), missing_strip(data, names, sheet)
    for panel in sheet.panels():
        line_panel(panel, "msg_bytes", names, scale, strip)
        size_axis(panel.axes, panel.data["msg_bytes"], sheet.panel_width_cm)
        panel.axes.set_title(_TITLES[panel.data["condition"].iloc[0]])
        sheet.label(panel.place, "message size", _COST.label)
    note = [
        caption(facts),
        interval_note(data, facts["method"]["statistics"]["confidence"]),
        strip.note,
    ]
    return Drawn(finish(sheet, data, Legend(names, {}), note), data)


def caption(facts: Mapping[str, Any]) -> str:
    """Return where and when a run was measured, in a sentence."""
    host, run = facts["host"], facts["run"]
    machine = "a virtual machine with " if host["cpu"]["virtualisation"] else ""
    return (
        f"Measured on {run['started_at'][:10]} on {machine}{host['cpu']['cpus_online']} CPUs "
        f"({host['cpu']['model']}), Linux {host['kernel']['release']}, with {_N_THREADS} thread."
    )


def main() -> None:
    """Draw the figure of the run whose results folder is named."""
    parser = argparse.ArgumentParser(description="Draw README's figure from a finished run.")
    parser.add_argument("results", type=Path, help="the folder results/ of a default run")
    results = parser.parse_args().results
    facts = json.loads((results / "facts.json").read_text(encoding="utf-8"))
    drawn = draw(facts, read_table(results / "tables" / "summary.csv"))
    svg = ROOT / "docs" / "headline.svg"
    save(drawn, svg)
    print(caption(facts))


if __name__ == "__main__":
    main()
