"""Whether and how the host lets itself be sampled."""

from pathlib import Path
from typing import Any

import pytest

from copycost.errors import Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.observers.sampling_access import is_privileged, plan_sampling

SHOWN = "ffffffff81000000 T _stext\n"
HIDDEN = "0000000000000000 T _stext\n0000000000000000 T _text\n"


def host(**changes: object) -> dict[str, Any]:
    perf = {
        "status": "available",
        "reason": None,
        "remedy": None,
        "path": "/usr/bin/perf",
        "version": "6.1",
        "paranoid": 1,
        "user_only": False,
        "events": {"cycles": {"status": "supported"}},
    }
    return {"perf": {**perf, **changes}}


def files_in(folder: Path, kallsyms: str | None) -> HostFiles:
    (folder / "proc").mkdir()
    if kallsyms is not None:
        (folder / "proc" / "kallsyms").write_text(kallsyms)
    return HostFiles(folder)


@pytest.fixture
def files(tmp_path: Path) -> HostFiles:
    return files_in(tmp_path, SHOWN)


def test_the_cycle_counter_is_preferred_unless_there_is_none_or_the_timer_is_asked_for(
    files: HostFiles,
) -> None:
    plan = plan_sampling(host(), "auto", 999, files)
    assert (plan.event, plan.source, plan.frequency_hz) == ("cycles", "hardware", 999)
    assert plan_sampling(host(), "cpu_clock", 999, files).source == "timer"
    no_counter = host(events={"cycles": {"status": "not_supported"}})
    plan = plan_sampling(no_counter, "auto", 999, files)
    assert (plan.event, plan.source) == ("cpu-clock", "timer")


@pytest.mark.parametrize(
    ("facts", "reason", "remedy"),
    [
        (host(events={"cycles": {"status": "not_supported"}}), "no cycle counter", "cpu_clock"),
        (host(status="missing", reason="no perf", remedy="install it"), "no perf", "install it"),
        (host(user_only=True, paranoid=2), "perf_event_paranoid is 2", "perf_event_paranoid=1"),
    ],
)
def test_what_cannot_be_sampled_is_told_with_a_remedy(
    files: HostFiles, facts: dict[str, Any], reason: str, remedy: str
) -> None:
    with pytest.raises(Unavailable, match=reason) as caught:
        plan_sampling(facts, "cycles", 999, files)
    assert remedy in caught.value.remedy


@pytest.mark.parametrize("content", [HIDDEN, "", None])
def test_a_kernel_that_hides_its_addresses(tmp_path: Path, content: str | None) -> None:
    with pytest.raises(Unavailable, match="kptr_restrict"):
        plan_sampling(host(), "auto", 999, files_in(tmp_path, content))


@pytest.mark.parametrize(
    ("uids", "uid_map", "privileged"),
    [
        ("0 0 0 0", "0 0 4294967295", True),
        ("1000 1000 1000 1000", "0 0 4294967295", False),
        ("0 1000 0 1000", "0 0 4294967295", False),  # the effective one counts
        ("0 0 0 0", "0 1000 1", False),  # root of a user namespace
        ("", "", False),
    ],
)
def test_large_buffers_are_for_root_outside_of_user_namespaces(
    tmp_path: Path, uids: str, uid_map: str, privileged: bool
) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    lines = f"Name:\tpython\nUid:\t{uids}\n" if uids else ""
    (tmp_path / "proc" / "self" / "status").write_text(lines)
    (tmp_path / "proc" / "self" / "uid_map").write_text(uid_map)
    assert is_privileged(HostFiles(tmp_path)) is privileged
