"""The study `profile` on the real workflow: from perf record to tables, facts and pictures."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from documented import assert_documented
from workflow.conftest import WholeRun
from workflow.support import Checkout

from copycost.studies.profile.columns import SHARES
from copycost.studies.profile.folded import read_folded
from copycost.studies.profile.runs import run_of


@pytest.fixture(scope="module")
def profiled(whole_run: WholeRun, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return a checkout in which one repetition of two cells was profiled."""
    checkout = whole_run.checkout.copy(tmp_path_factory.mktemp("profile") / "checkout")
    checkout.configure(
        "profile",
        implementations=["two_copy", "zero_copy"],
        testbeds=["loopback"],
        msg_bytes=[16384],
        repetitions=1,
    )
    checkout.snakemake("--cores", "1", "profile")
    return checkout


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


def test_the_data_dictionary_has_exactly_the_columns_of_profiles(profiled: Checkout) -> None:
    assert_documented(profiled.path / "results", *(f"{name}.csv" for name in SHARES))


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
