"""Own measurements beside published runs."""

import json
from pathlib import Path

import pytest
from analysed import inputs_of
from synthetic import Run

from copycost.analysis.columns import write_table
from copycost.analysis.json_values import Facts
from copycost.compare.published import compare_published, render_comparison
from copycost.records.files import write_json
from copycost.studies.streams.facts import compute_facts

pytestmark = pytest.mark.slow

PUBLISHED = Path(__file__).parents[3] / "data" / "published"
OFFLOADS = ("veth", "veth_no_offload")


def compared(run: Run, folder: Path) -> Facts:
    inputs = inputs_of(run)
    write_json(compute_facts(inputs), folder / "facts.json")
    write_table(inputs.summary, folder / "summary.csv")
    return compare_published(
        folder / "facts.json", folder / "summary.csv", PUBLISHED, folder / "published"
    )


def test_each_published_run_stands_beside_the_testbed_of_its_kind(tmp_path: Path) -> None:
    runs = compared(Run(testbeds=OFFLOADS, counters=True), tmp_path)["runs"]
    assert [(run["name"], run["testbed"], run["same_path"]) for run in runs] == [
        ("ryzen-7840hs", "veth_no_offload", True),
        ("i5-10500", "veth", True),
    ]
    assert {row["n_cells"] for row in runs[1]["ratios"]} == {16}


def test_another_path_and_another_unit_are_said(tmp_path: Path) -> None:
    facts = compared(Run(testbeds=("loopback",), counters=False), tmp_path)
    assert not any(run["same_path"] for run in facts["runs"])
    html, _ = render_comparison(
        tmp_path / "published" / "beside.json", "Title", "this host", ["html", "pdf"]
    )
    text = " ".join(html.read_text(encoding="utf-8").split())
    assert ", another path" in text
    assert "only the shapes can be compared" in text


@pytest.mark.parametrize(
    "run",
    [
        Run(testbeds=("veth",), skipped={"veth": "no right to make namespaces"}),
        Run(implementations=("zero_copy",), repetitions=1),
    ],
    ids=["nothing measured", "one implementation"],
)
def test_what_cannot_be_compared_is_said_in_a_whole_report(run: Run, tmp_path: Path) -> None:
    compared(run, tmp_path)
    beside = tmp_path / "published" / "beside.json"
    assert json.loads(beside.read_text(encoding="utf-8"))["schema_version"] == 1
    (html,) = render_comparison(beside, "Title", "this host", ["html"])
    assert "nan" not in html.read_text(encoding="utf-8").split("<main>")[1].lower().split("svg")[0]
