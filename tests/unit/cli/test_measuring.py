"""A run on a disk that is full, or fills up meanwhile; what has to be installed for it."""

import platform
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake import exceptions

from copycost.cli import apt_packages, environment, measuring
from copycost.cli.environment import RunError
from copycost.errors import CopycostError
from copycost.hosts.facts.files import HostFiles
from copycost.records import disk
from copycost.snakefile import internals


@pytest.mark.parametrize(("before", "calls"), [(0, 0), (9 << 20, 1)])
def test_a_full_disk_is_named_before_anything_runs_and_where_a_run_fails(
    before: int, calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    free, started = [before, 0], []

    def run(command: list[str], **_how: object) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(returncode=1)

    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: SimpleNamespace(free=free.pop(0)))
    monkeypatch.setattr(environment, "run", run)
    monkeypatch.setattr(apt_packages, "set_up_run", lambda: None)
    monkeypatch.setattr(environment, "make", lambda _: None)
    with pytest.raises(RunError, match=f"the disk that holds {tmp_path} is full; "):
        measuring.measure([])
    assert len(started) == calls


@pytest.mark.parametrize(("statuses", "ends"), [([75, 0], 0), ([75, 75, 75, 75], 1), ([1], 1)])
def test_snakemake_begins_again_where_it_met_a_full_disk_itself(
    statuses: list[int], ends: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    left = list(statuses)

    def run(command: list[str], **_how: object) -> SimpleNamespace:
        return SimpleNamespace(
            returncode=left.pop(0) if "setpriv" in command else 0,
            stdout="",
            check_returncode=lambda: None,
        )

    monkeypatch.setattr(environment, "run", run)
    monkeypatch.setattr(measuring, "set_up", lambda: None)
    assert measuring.measure([]) == ends
    assert not left


def test_an_error_of_snakemake_itself_tells_of_the_full_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = exceptions.format_exception_to_string
    monkeypatch.setattr(exceptions, "format_exception_to_string", said)  # for after the test
    monkeypatch.setattr(internals, "met_full_disk", False)
    internals.say_plainly(CopycostError, "copycost")
    exceptions.print_exception(exceptions.WorkflowError("a rule has no output"))
    assert not internals.met_full_disk
    exceptions.print_exception(
        exceptions.WorkflowError("cannot record metadata ([Errno 28] No space left on device)")
    )
    assert internals.met_full_disk


OWN_TOOLS = f"linux-tools-{platform.release()}"


@pytest.mark.parametrize(
    ("system", "listed", "package"),
    [
        ("ID=debian", "", "linux-perf"),
        ("NAME=x\nID=ubuntu\nID_LIKE=debian", OWN_TOOLS, OWN_TOOLS),
        ("ID=pop\nID_LIKE='ubuntu debian'", "", "linux-tools-generic"),
        (None, "", "linux-perf"),
    ],
)
def test_perf_has_the_name_that_the_distribution_gives_it(
    system: str | None, listed: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if system is not None:
        (tmp_path / "etc").mkdir()
        (tmp_path / "etc/os-release").write_text(system)
    monkeypatch.setattr(apt_packages, "HostFiles", lambda: HostFiles(tmp_path))
    monkeypatch.setattr(apt_packages, "works", lambda *words: words[-1] == listed)
    assert apt_packages._perf_package() == package
