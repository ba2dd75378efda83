"""This host beside published runs."""

from pathlib import Path

import pandas as pd
import pytest
from analysed import inputs_of
from synthetic import Run

from copycost.analysis.columns import write_table
from copycost.analysis.json_values import Facts
from copycost.compare.audit.wording import fill
from copycost.compare.published import compare_published
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


@pytest.mark.parametrize(
    ("testbeds", "conditions", "same"),
    [(OFFLOADS, ["veth_no_offload", "veth"], True), (("loopback",), ["loopback"] * 2, False)],
)
def test_each_published_run_stands_beside_the_testbed_of_its_kind_or_another(
    tmp_path: Path, testbeds: tuple[str, ...], conditions: list[str], same: bool
) -> None:
    facts = compared(Run(testbeds=testbeds), tmp_path)
    assert (", another path" in fill("published.qmd.j2", published=facts)) != same
    runs = facts["runs"]
    assert [run["name"] for run in runs] == ["ryzen-7840hs", "i5-10500"]
    assert [run["testbed"] for run in runs] == conditions
    assert [run["same_path"] for run in runs] == [same] * 2
    points = pd.read_csv(tmp_path / "published" / "throughput.csv").groupby(["run", "where"])
    assert points["testbed"].unique()["i5-10500", "this host"] == conditions[1:]


@pytest.mark.parametrize(
    ("run", "n_runs"),
    [
        (Run(testbeds=("veth",), skipped={"veth": "no right to make namespaces"}), 0),
        (Run(implementations=("zero_copy",), repetitions=1), 2),
    ],
    ids=["nothing measured", "one implementation"],
)
def test_where_little_can_be_compared_there_are_facts_and_a_figure(
    run: Run, n_runs: int, tmp_path: Path
) -> None:
    facts = compared(run, tmp_path)
    assert len(facts["runs"]) == n_runs
    assert facts["is_drawn"] == bool(n_runs)
    assert ("throughput.svg" in fill("published.qmd.j2", published=facts)) == bool(n_runs)
    assert (tmp_path / "published" / "throughput.svg").is_file()
