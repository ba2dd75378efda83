"""What follows a whole run: a profile, an audit, and what all the scripts opened meanwhile."""

import csv
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from workflow.conftest import WholeRun
from workflow.support import NOTES, Checkout

from copycost.snakefile.console_summary import MEASURING_RULES
from copycost.snakefile.dependencies import code_of
from copycost.studies.data_dictionary import TABLES, columns_csv
from copycost.studies.profile.columns import SHARES
from copycost.studies.profile.folded import read_folded
from copycost.studies.profile.runs import run_of

# Of the checkout; what lies in results is made by rules, which Snakemake itself follows.
SOURCES = ("workflow", "report", "data", "src", "config", "envs")

AUDIT = ("audit", "--config", "dataset=my run.csv", "claims=c.yaml")
CLAIMS = """
- claim: one copy is faster
  compare: {metric: throughput, implementation: one_copy, with: two_copy, is: more}
"""


def to_audit(checkout: Checkout) -> Checkout:
    """Put a table that others measured into a checkout."""
    table = "impl,size,threads,gbps\nA1,4096,1,10.5\nA2,4096,1,11.5\n"
    (checkout.path / "my run.csv").write_text(table, encoding="utf-8")
    (checkout.path / "c.yaml").write_text(CLAIMS, encoding="utf-8")
    return checkout


@pytest.fixture(scope="module")
def profiled(whole_run: WholeRun, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which two cells were profiled, and nearly every rule was run."""
    checkout = whole_run.checkout.copy(tmp_path_factory.mktemp("profile") / "checkout")
    checkout.configure(
        "profile",
        enabled=True,
        implementations=["two_copy", "zero_copy"],
        testbeds=["loopback"],
        msg_bytes=[16384],
        differences=[],
        repetitions=1,
    )
    checkout.configure(
        "round_trips", implementations=["one_copy"], testbeds=["loopback"], msg_bytes=[64]
    )
    checkout.configure("measure", memory_floor=True)
    wanted = ("profile", "results/report/report.qmd", "results/tables/columns.csv", *AUDIT)
    assert "claim 1, supported" in to_audit(checkout).noted("--cores", "2", *wanted)
    return checkout


def opened_by_scripts(checkout: Checkout) -> dict[str, set[str]]:
    """Return the sources that each script opened, relative to the checkout."""
    found: dict[str, set[str]] = defaultdict(set)
    for note in (checkout.path / NOTES).iterdir():
        told = json.loads(note.read_text())
        program = Path(told["program"])
        if program.parent.name != "scripts":
            continue  # Snakemake itself, or a program that a script started
        script = program.name.partition(".")[2]  # after a random word of Snakemake's
        found[script] |= set()
        for name in map(Path, told["opened"]):
            if name.parent.name == "__pycache__":
                name = name.parent.parent / f"{name.name.split('.')[0]}.py"
            if name.parts[0] in SOURCES and (checkout.path / name).is_file():
                found[script].add(str(name))
    return found


def stated_inputs(checkout: Checkout) -> dict[str, set[str]]:
    """Return the inputs of the jobs that run each script, but for those that measure."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (checkout.path / ".snakemake" / "metadata").rglob("*"):
        if path.is_file():
            noted = json.loads(path.read_text())
            scripts = [name for name in noted["input"] if name.startswith("workflow/scripts/")]
            if scripts and noted["rule"] not in MEASURING_RULES:
                (script,) = scripts
                inputs = [*noted["input"], *code_of(checkout.path, script)]
                found[Path(script).name] |= {os.path.normpath(name) for name in inputs}
    return found


# What its imports read is in tests/unit/snakefile/test_dependencies.py.
def test_whatever_a_script_opens_is_an_input_of_its_rule(profiled: Checkout) -> None:
    opened, stated = opened_by_scripts(profiled), stated_inputs(profiled)
    assert len(stated) >= 15
    assert stated.keys() <= opened.keys()
    missing = {script: opened[script] - inputs for script, inputs in stated.items()}
    assert {script: sorted(names) for script, names in missing.items() if names} == {}


def test_a_dataset_is_audited_without_measuring_and_again_only_if_it_changed(
    profiled: Checkout, checkout: Checkout
) -> None:
    assert to_audit(checkout).planned(*AUDIT) == {"audit_dataset": 1}
    folder = profiled.path / "results" / "audit" / "my-run"
    verdicts = json.loads((folder / "audit.json").read_text(encoding="utf-8"))["claims"]
    assert [claim["verdict"] for claim in verdicts] == ["supported"]
    assert (folder / "report.html").is_file()
    assert (folder / "report.pdf").is_file()
    assert profiled.planned(*AUDIT) == {}
    profiled.append("my run.csv", "A3,4096,1,9\n")
    assert profiled.planned(*AUDIT) == {"audit_dataset": 1}


def _records(checkout: Checkout) -> list[Path]:
    return sorted((checkout.path / "results/raw/profile").rglob("rep=*.json"))


def _content(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def test_every_cell_has_a_record_with_a_clear_status(profiled: Checkout) -> None:
    records = [_content(path) for path in _records(profiled)]
    assert [record["cell"]["implementation"] for record in records] == ["two_copy", "zero_copy"]
    for record in records:
        if record["status"] == "measured":
            sides = record["observed"]["sampling"]["sides"]
            assert sorted(sides) == ["receiver", "reference_receiver", "reference_sender", "sender"]
            assert run_of(record["undisturbed"]).received_bytes > 0
        else:
            assert record["reason"]
            assert record["remedy"]


def test_the_data_dictionary_has_exactly_the_columns_of_each_table(profiled: Checkout) -> None:
    tables = profiled.path / "results/tables"
    assert (tables / "columns.csv").read_text(encoding="utf-8") == columns_csv()
    found = {}
    for path in tables.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as table:
            found[path.stem] = tuple(next(csv.reader(table)))
    del found["columns"]
    of_streams = {"cells", "summary", "ratios", "quality"}
    assert {*of_streams, "round_trips", "round_trip_curves", *SHARES} <= found.keys()
    assert found == {name: TABLES[f"{name}.csv"].names for name in found}


def test_shares_add_up_and_are_known(profiled: Checkout) -> None:
    facts = json.loads((profiled.path / "results/profile/facts.json").read_text())
    if not facts["n_measured"]:
        pytest.skip(f"nothing can be sampled here: {facts['losses'][0]['reason']}")
    table = pd.read_csv(profiled.path / "results/tables/profile_categories.csv")
    sums = table.groupby(["implementation", "side"])["own_share"].sum()
    assert ((sums - 1).abs() < 1e-6).all()
    samples = {
        (record["cell"]["implementation"], side): one["samples"]
        for record in map(_content, _records(profiled))
        if record["status"] == "measured"
        for side, one in record["observed"]["sampling"]["sides"].items()
        if side in ("sender", "receiver")
    }
    unknown = table[table["category"] == "uncategorised"]
    rows = zip(unknown["implementation"], unknown["side"], unknown["own_share"], strict=True)
    # of all together: of the few samples that one side gets on a busy host, one is soon too much
    n_unknown = sum(share * samples[name, side] for name, side, share in rows)
    assert n_unknown <= 0.05 * sum(samples.values())
    chains = pd.read_csv(profiled.path / "results/tables/profile_chains.csv")
    assert "tcp_sendmsg;tcp_sendmsg_locked" in set(chains["call_path"])


def test_a_second_run_does_nothing_and_perf_s_files_are_gone(profiled: Checkout) -> None:
    assert profiled.planned("profile") == {}
    raw = profiled.path / "results/raw/profile"
    left = [path.name for path in raw.rglob("*") if path.is_file()]
    assert sorted(left) == ["rep=1.folded.gz", "rep=1.folded.gz", "rep=1.json", "rep=1.json"]


def test_another_list_of_functions_measures_nothing_again(profiled: Checkout) -> None:
    profiled.append("data/functions/categories.yaml", "# read again\n")
    assert profiled.planned("profile") == {"collect_profile": 1, "draw_profile": 1}


def test_stacks_that_are_cut_off_cost_their_repetition_alone(profiled: Checkout) -> None:
    if _content(_records(profiled)[0])["status"] != "measured":
        pytest.skip("nothing can be sampled here")
    first, second = sorted((profiled.path / "results/raw/profile").rglob("*.folded.gz"))
    first.write_bytes(first.read_bytes()[:-20])
    kept = second.read_bytes()
    said = profiled.snakemake("--cores", "1", "profile").stderr
    assert "profile, repetition 1: " in said
    assert "file in results cannot be used" in said
    parties = {party.removeprefix("reference_") for party in read_folded(first)}
    assert parties <= {"sender", "receiver"}
    assert second.read_bytes() == kept
    assert profiled.planned("profile") == {}
