"""Whether counts are simulated on their own, and of which caches."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from copycost.build.checkout import ROOT
from copycost.config.config import Config
from copycost.errors import Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.studies.simulated.caches import caches_of
from copycost.studies.simulated.wanted import counts_misses, require_wanted


def section(**given: Any) -> Any:  # noqa: ANN401
    tree = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["simulated"]
    return tree | given


def typed() -> Any:  # noqa: ANN401
    from copycost.config.simulated import Simulated
    from copycost.config.structure import from_plain

    return from_plain(section(enabled="auto"), Simulated)


def host(
    status: str = "supported", user_only: bool = False, **caches: int | None
) -> dict[str, Any]:
    known: dict[str, int | None] = {"l1d_bytes": 49152, "l2_bytes": 2 << 20, "llc_bytes": 30 << 20}
    return {
        "cpu": {"caches": known | caches},
        "perf": {
            "status": "available",
            "user_only": user_only,
            "events": {name: {"status": status} for name in ("l1d_load_misses", "llc_load_misses")},
        },
    }


def files(tmp_path: Path, *levels: tuple[int, str, int]) -> HostFiles:
    for number, (level, kind, ways) in enumerate(levels):
        folder = tmp_path / f"sys/devices/system/cpu/cpu0/cache/index{number}"
        folder.mkdir(parents=True)
        (folder / "level").write_text(f"{level}\n")
        (folder / "type").write_text(f"{kind}\n")
        (folder / "ways_of_associativity").write_text(f"{ways}\n")
    return HostFiles(tmp_path)


def test_a_host_that_counts_misses_needs_no_simulation() -> None:
    assert counts_misses(host())
    assert not counts_misses(host("not_supported"))
    assert not counts_misses(host(user_only=True))
    with pytest.raises(Unavailable, match="this host counts cache misses itself"):
        require_wanted(typed(), host())
    short = replace(typed(), testbeds=("sink",), msg_bytes=(49152,))
    require_wanted(short, host("not_supported"))
    require_wanted(replace(short, enabled=True), host())


def test_what_takes_long_has_to_be_asked_for() -> None:
    long = replace(typed(), window_bytes=1 << 28)
    with pytest.raises(Unavailable, match="more than the 60 s that auto allows"):
        require_wanted(long, host("not_supported"))
    require_wanted(replace(long, enabled=True), host("not_supported"))


def test_the_caches_are_those_of_the_host(tmp_path: Path) -> None:
    told = files(tmp_path, (1, "Data", 12), (1, "Instruction", 8), (2, "Unified", 16),
                 (3, "Unified", 15))  # fmt: skip
    assert caches_of(section(), host(), told) == {
        "l1d": {"size_bytes": 49152, "ways": 12},
        "l2": {"size_bytes": 2 << 20, "ways": 16},
        "llc": {"size_bytes": 30 << 20, "ways": 15},
    }


def test_ways_that_nobody_tells_are_usual_ones(tmp_path: Path) -> None:
    found = caches_of(section(), host(), HostFiles(tmp_path))
    assert [level["ways"] for level in found.values()] == [8, 16, 16]


def test_caches_of_another_size_keep_their_ways(tmp_path: Path) -> None:
    stated = section(caches={
        "l1d": {"size_bytes": 32768, "ways": 8}, "l2": {"size_bytes": 1 << 20, "ways": 16},
        "llc": {"size_bytes": 1024, "ways": 16},
    })  # fmt: skip
    half = caches_of(stated, host(), HostFiles(tmp_path), 0.5)
    assert half["l1d"] == {"size_bytes": 16384, "ways": 8}
    assert half["llc"] == {"size_bytes": 1024, "ways": 16}
    assert caches_of(stated, host(), HostFiles(tmp_path), 2)["l2"]["size_bytes"] == 2 << 20


def test_sizes_that_the_host_hides_have_to_be_stated(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="does not tell the size of its llc cache"):
        caches_of(section(), host(llc_bytes=None), HostFiles(tmp_path))


def test_the_configuration_knows_what_is_changed() -> None:
    tree = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    changed = tree["simulated"]["sensitivity"]
    changed |= {"variants": ["sse2", "other_kernel"], "kernel": "/boot/vmlinuz"}
    assert Config.from_dict(_in_bytes(tree)).simulated.variants()[-1] == "other_kernel"
    changed["kernel"] = "none"
    assert "other_kernel" not in Config.from_dict(_in_bytes(tree)).simulated.variants()


def _in_bytes(tree: dict[str, Any]) -> dict[str, Any]:
    for grid in ("streams", "udp", "round_trips"):
        tree[grid]["msg_bytes"] = [1024]
    return tree
