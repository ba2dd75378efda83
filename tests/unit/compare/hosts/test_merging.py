"""Merging adds: nothing twice, nothing lost, another state of a host beside the old one."""

import shutil
from pathlib import Path

import pytest
from unit.compare.hosts.made import Records, host_facts, records_of, write_run

from copycost.__main__ import main
from copycost.compare.hosts.host_results import HostSet, read_sets
from copycost.compare.hosts.import_archive import read_parcel
from copycost.compare.hosts.merge_command import said_of
from copycost.compare.hosts.merging import Merged, merge
from copycost.errors import DataError

LATER = "2026-02-01T00:00:00+00:00"
OTHER_BOOT = "99999999-2222-3333-4444-555555555555"


def merged(
    tmp_path: Path, records: Records, name: str | None = "lab", place: str = "run",
    update: bool = False, **identity: object,
) -> Merged:  # fmt: skip
    """Merge results whose host is named by whoever merges, or by nobody but themselves."""
    shutil.rmtree(tmp_path / place, ignore_errors=True)
    alias = None if place.startswith("unnamed") else "lab"
    folder = write_run(tmp_path / place, records, host_facts(**identity), alias)
    return merge(read_parcel(folder, name), tmp_path / "fleet", update=update)


def rounds(one: HostSet) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for record in one.read_records():
        found.setdefault(record["cell"]["implementation"], []).append(record["cell"]["rep"])
    return {name: sorted(reps) for name, reps in found.items()}


def test_the_same_twice_adds_nothing_and_more_rounds_come_to_it(tmp_path: Path) -> None:
    first = merged(tmp_path, records_of())
    again = merged(tmp_path, records_of())
    assert (again.n_added, again.n_replaced, again.n_known) == (0, 0, 6)
    assert again.into.content == first.into.content
    again = merged(tmp_path, records_of(range(1, 6)))
    assert (again.n_added, again.n_known) == (4, 6)
    assert rounds(again.into) == {"one_copy": [1, 2, 3, 4, 5], "two_copy": [1, 2, 3, 4, 5]}


def test_what_was_measured_anew_takes_the_place_of_the_old(tmp_path: Path) -> None:
    old = records_of()
    merged(tmp_path, records_of())
    anew = records_of(start_s=9000, started_at=LATER)
    mixed = [new if new["cell"]["implementation"] == "one_copy" else was
             for was, new in zip(old, anew, strict=True)]  # fmt: skip
    again = merged(tmp_path, mixed)
    assert (again.n_added, again.n_replaced, again.n_known) == (0, 3, 3)
    back = merged(tmp_path, records_of())
    assert (back.n_replaced, back.n_known) == (0, 6), "the later measurement stays"


def test_another_run_of_the_same_host_comes_as_further_rounds(tmp_path: Path) -> None:
    merged(tmp_path, records_of())
    again = merged(tmp_path, records_of(boot=OTHER_BOOT, started_at=LATER))
    assert (again.n_added, again.n_replaced) == (6, 0)
    assert rounds(again.into)["one_copy"] == [1, 2, 3, 1001, 1002, 1003]
    third = merged(tmp_path, records_of(range(1, 5), boot=OTHER_BOOT, started_at=LATER))
    assert (third.n_added, third.n_known) == (2, 6), "its rounds keep together"
    assert rounds(third.into)["two_copy"][-1] == 1004


def test_a_host_that_changed_is_a_state_of_its_own(tmp_path: Path) -> None:
    merged(tmp_path, records_of(), kernel_release="6.1")
    again = merged(tmp_path, records_of(boot=OTHER_BOOT), kernel_release="6.12")
    assert again.is_new_state
    assert again.into.name == "lab_2"
    assert again.into.changes == ("kernel_release was 6.1, is 6.12",)
    sets, _ = read_sets(tmp_path / "fleet")
    assert [len(one.records) for one in sets] == [6, 6]
    assert [one.name for one in sets] == ["lab", "lab_2"]
    back = merged(tmp_path, records_of(), kernel_release="6.1")
    assert (back.into.name, back.n_known) == ("lab", 6)


def by_itself(tmp_path: Path, place: str, records: Records, **about: object) -> Merged:
    return merged(tmp_path, records, None, place, **about)  # type: ignore[arg-type]


def refusal(tmp_path: Path, place: str, records: Records, **identity: object) -> str:
    with pytest.raises(DataError) as error:
        by_itself(tmp_path, place, records, **identity)
    return str(error.value)


def test_an_archive_that_takes_the_name_of_a_host_does_not_take_its_place(tmp_path: Path) -> None:
    by_itself(tmp_path, "mine", records_of(), kernel_release="6.1")
    other = records_of(boot=OTHER_BOOT)
    said = refusal(tmp_path, "theirs", other, kernel_release="6.12")
    assert "host=lab is of a host of that name that is another (kernel_release was 6.1" in said
    assert said.endswith("theirs if it is another one")
    assert [one.name for one in read_sets(tmp_path / "fleet")[0]] == ["lab"]
    again = by_itself(tmp_path, "theirs", other, update=True, kernel_release="6.12")
    assert (again.into.name, again.is_new_state) == ("lab_2", True)


def test_records_give_way_only_to_those_of_the_same_source(tmp_path: Path) -> None:
    first = by_itself(tmp_path, "mine", records_of())
    mixed = records_of(range(1, 2)) + records_of(range(2, 4), start_s=9000, started_at=LATER)
    said = refusal(tmp_path, "theirs", mixed)
    assert "4 records would take the place of what another source brought" in said
    assert read_sets(tmp_path / "fleet")[0] == [first.into]
    assert by_itself(tmp_path, "mine", mixed).n_replaced == 4


def test_two_hosts_that_nobody_has_named_are_not_taken_for_one(tmp_path: Path) -> None:
    name = by_itself(tmp_path, "unnamed1", records_of()).into.host
    assert by_itself(tmp_path, "unnamed1", records_of(range(1, 5))).n_added == 2
    twin = records_of(boot=OTHER_BOOT)
    said = refusal(tmp_path, "unnamed2", twin)
    assert "nobody has named its host" in said
    assert f"merge it as {name}=" in said
    again = merge(read_parcel(tmp_path / "unnamed2", name), tmp_path / "fleet")
    assert said_of(again) == f"{name}, 6 records new, as a further run of the host already there"


def test_nothing_is_added_to_a_host_that_cannot_be_read(tmp_path: Path) -> None:
    one = merged(tmp_path, records_of()).into
    text = (one.folder / "set.json").read_text()
    (one.folder / "set.json").write_text("{")
    with pytest.raises(DataError, match=r"cannot be added to lab: .*set\.json, line 1"):
        merged(tmp_path, records_of())
    sets, unreadable = read_sets(tmp_path / "fleet")
    assert (sets, set(unreadable)) == ([], {"lab"})
    assert len(one.records) == 6, "and what is there stays"
    (one.folder / "set.json").write_text(text)
    one.records[0].write_text("{")
    with pytest.raises(DataError, match=r"cannot be added to lab: .*rep=1.json, line 1"):
        merged(tmp_path, records_of())


def test_the_command_refuses_what_is_damaged_and_merges_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, archive = write_run(tmp_path / "results"), tmp_path / "x.zip"
    assert main(["export", str(archive), "--alias", "lab", "--results", str(run)]) == 0
    assert "6 records of lab, without the names of hosts and users" in capsys.readouterr().out
    bad = write_run(tmp_path / "bad")
    (bad / "host.json").write_text("{")
    fleet = tmp_path / "fleet"
    sources = [str(archive), str(bad), str(tmp_path / "none")]
    assert main(["merge", *sources, "--into", str(fleet), "--no-report"]) == 1
    said = capsys.readouterr()
    assert "lab, 6 records new" in said.out
    assert "bad: refused" in said.err
    assert "none: has no results" in said.err
    assert "2 sources of 3 not merged" in said.err
    assert [one.name for one in read_sets(fleet)[0]] == ["lab"]
