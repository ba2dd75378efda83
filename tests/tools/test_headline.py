"""README's figure: what is drawn, and that it names where and when that was measured."""

import json
from pathlib import Path

import pytest
from matplotlib.text import Text
from report.example import write_results
from synthetic import Run, Udp

from copycost.analysis.columns import read_table
from tools.headline import draw


@pytest.mark.slow
def test_the_figure_names_testbeds_host_kernel_and_date(tmp_path: Path) -> None:
    write_results(Run(testbeds=("veth",), udp=Udp()), tmp_path)
    facts = json.loads((tmp_path / "facts.json").read_text())
    drawn = draw(facts, read_table(tmp_path / "summary.csv"))
    assert set(drawn.data["condition"]) == {"veth", "sink", "sink_cold"}
    assert set(drawn.data["n_threads"]) == {1}
    assert drawn.data["value"].notna().all()
    said = " ".join(text.get_text() for text in drawn.figure.findobj(Text)).replace("\n", " ")
    assert "TCP over a veth pair" in said
    assert facts["run"]["started_at"][:10] in said
    assert facts["host"]["cpu"]["model"] in said
    assert f"Linux {facts['host']['kernel']['release']}" in said
