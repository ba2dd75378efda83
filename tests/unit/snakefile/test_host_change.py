import json
from pathlib import Path

import pytest
from sample_records import sample_record
from unit.compare.hosts.made import host_facts, records_of, write_run

from copycost.compare.hosts.host_results import read_sets
from copycost.hosts.facts.identity import host_identity
from copycost.snakefile import before_run
from copycost.snakefile.before_run import keep_earlier
from copycost.snakefile.before_run import remark_on_host as remark


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The description of this host among the results, for a test to edit."""
    monkeypatch.chdir(tmp_path)
    before_run.HOST_PATH.parent.mkdir()
    before_run.HOST_PATH.write_text(json.dumps({"identity": host_identity()}))
    return before_run.HOST_PATH


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"identity": 3}'])
def test_nothing_is_said_without_a_description_of_another_host(
    host: Path, text: str | None
) -> None:
    assert remark(described_anew=False, measures=True) is None
    if text is None:
        host.unlink()
    else:
        host.write_text(text)
    assert remark(described_anew=False, measures=True) is None


@pytest.mark.parametrize(
    ("described_anew", "measures", "end"),
    [
        (True, True, ", so every cell is measured again."),
        (False, True, "; remove results/host.json so that this host is measured alone, or use "),
        (False, False, ", and they stay as they are; remove results/host.json to measure this "),
    ],
)
def test_another_host_is_said_with_what_follows_and_changes_nothing(
    host: Path, described_anew: bool, measures: bool, end: str
) -> None:
    other = json.dumps({"identity": host_identity() | {"kernel_release": "5.10-test"}})
    host.write_text(other)
    said = remark(described_anew=described_anew, measures=measures)
    assert said is not None
    assert said.startswith(
        "copycost: this is not the host of the earlier results (kernel_release was 5.10-test, is "
    )
    assert end in said
    assert host.read_text() == other


def measured_elsewhere(host: Path, alias: str | None = None) -> Path:
    """Leave what a run on another host left; return the folder of the fleet."""
    facts = host_facts(kernel_release="5.10-test")
    write_run(host.parent, records_of(), facts, alias)
    return host.parent / "fleet"


def test_earlier_results_are_kept_among_the_hosts_before_they_are_overwritten(host: Path) -> None:
    fleet = measured_elsewhere(host, "lab")
    said = keep_earlier(would=True)
    assert said == "The earlier streams and round trips would be kept in results/fleet."
    assert not fleet.exists()
    said = keep_earlier(would=False)
    assert said == "The earlier streams and round trips are kept in results/fleet/host=lab."
    (one,) = read_sets(fleet)
    assert (one.n_records, one.facts()["identity"]["kernel_release"]) == (6, "5.10-test")
    assert keep_earlier(would=False) == said
    assert read_sets(fleet) == [one], "and once only"
    everything = remark(described_anew=True, measures=True, earlier=said)
    assert everything is not None
    assert everything.endswith(f", so every cell is measured again. {said}")


def test_a_later_state_of_the_host_does_not_take_the_place_of_an_earlier_one(host: Path) -> None:
    fleet = measured_elsewhere(host, "lab")
    keep_earlier(would=False)
    write_run(host.parent, records_of(), host_facts(kernel_release="5.11-test"), "lab")
    assert keep_earlier(would=False).endswith("results/fleet/host=lab_2.")
    assert [one.name for one in read_sets(fleet)] == ["lab", "lab_2"]


def test_a_host_without_a_name_is_kept_under_one_made_of_what_it_is(host: Path) -> None:
    measured_elsewhere(host)
    assert "kept in results/fleet/host=host-" in keep_earlier(would=False)


def test_what_cannot_be_kept_is_said(host: Path) -> None:
    measured_elsewhere(host)
    next(host.parent.rglob("rep=1.json")).write_text("{")
    said = keep_earlier(would=False)
    assert said.startswith("The earlier results cannot be kept, and are overwritten: results: ref")


@pytest.mark.parametrize("status", [None, "skipped", "failed"])
def test_nothing_is_kept_where_nothing_was_measured(host: Path, status: str | None) -> None:
    records = [sample_record(status=status)] if status else []
    write_run(host.parent, records, host_facts(kernel_release="5.10-test"))
    assert keep_earlier(would=False) == ""
    assert not (host.parent / "fleet").exists()


def test_results_of_this_host_are_not_kept_elsewhere(host: Path) -> None:
    write_run(host.parent, records_of(), {"identity": host_identity()})
    assert keep_earlier(would=False) == ""
    assert not (host.parent / "fleet").exists()
