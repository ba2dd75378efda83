"""Whether counts are simulated on their own, of which caches, and what a record keeps of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from copycost.config.checkout import ROOT
from copycost.config.simulated import CacheSizes, Geometry
from copycost.config.simulated import Simulated as Section
from copycost.config.simulation_variants import PLAIN
from copycost.config.sources import usual_tree
from copycost.config.structure import from_plain
from copycost.errors import HostError, TookTooLong, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.measure.simulated.cell import Simulated
from copycost.studies.simulated import wanted
from copycost.studies.simulated.cell import in_whole_sets, outcome_of, sides_of, stated_caches
from copycost.studies.simulated.facts import BASELINE
from copycost.studies.simulated.reading import LEVELS

ZERO_COPY = {
    "sent": 112, "sent_in_window": 64, "completed": 112, "completed_in_window": 63,
    "copied": 112, "copied_in_window": 63, "copied_unknown": None,
}  # fmt: skip


def told(received: int | None, zero_copy: dict[str, Any] | None = None) -> Simulated:
    """Return what programs in a guest say; None: nobody receives."""
    sender = {"in_window": {"messages": 64, "bytes": 64 << 16}, "zero_copy": zero_copy}
    return Simulated({}, sender, None if received is None else {"in_window": {"bytes": received}})


def test_a_record_keeps_the_bytes_of_both_sides_and_what_was_copied_after_all() -> None:
    sends = {"sent": 64, "completed": 63, "copied": 63, "copied_unknown": None}
    sender = {"messages": 64, "bytes": 64 << 16, "zero_copy": sends}
    receiver = {"bytes": 5 << 20}
    assert sides_of(told(5 << 20, ZERO_COPY)) == {"sender": sender, "receiver": receiver}
    nobody = {"sender": sender | {"zero_copy": None}, "receiver": None}
    assert sides_of(told(None)) == nobody
    with pytest.raises(Unavailable, match="read nothing in the window; raise"):
        sides_of(told(0))


def test_only_what_took_too_long_is_to_be_run_again_as_it_is() -> None:
    slow = outcome_of(TookTooLong("the guest took too long"))
    assert slow["remedy"] == "run again with ./run --retry-failed"
    refused = "QEMU ended with exit status 1; it said last: simulated: l1d: got 1000 bytes"
    assert outcome_of(HostError(refused))["remedy"].startswith("mend what is named")
    missing = outcome_of(Unavailable("no kernel", "install one"))
    assert (missing["status"], missing["remedy"]) == ("skipped", "install one")


def typed(**given: object) -> Section:
    return from_plain(usual_tree()["simulated"] | {"enabled": "auto"} | given, Section)


COUNTING = typed().counting()


def host(**caches: int | None) -> dict[str, Any]:
    known: dict[str, int | None] = {"l1d_bytes": 49152, "l2_bytes": 2 << 20, "llc_bytes": 30 << 20}
    return {"cpu": {"caches": known | caches}}


def files(tmp_path: Path, *levels: tuple[int, str, int]) -> HostFiles:
    for number, (level, kind, ways) in enumerate(levels):
        folder = tmp_path / f"sys/devices/system/cpu/cpu0/cache/index{number}"
        folder.mkdir(parents=True)
        (folder / "level").write_text(f"{level}\n")
        (folder / "type").write_text(f"{kind}\n")
        (folder / "ways_of_associativity").write_text(f"{ways}\n")
    return HostFiles(tmp_path)


def test_counts_are_simulated_unasked_only_where_it_is_short_possible_and_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def why_not(section: Section) -> str:
        wanted.require_wanted(replace(section, enabled=True))
        with pytest.raises(Unavailable) as missing:
            wanted.require_wanted(section)
        return missing.value.reason

    monkeypatch.setattr(wanted, "require_plugins", lambda: None)
    monkeypatch.setattr(wanted, "find_busybox", lambda: None)
    monkeypatch.setattr(wanted, "kernel_source", lambda: None)
    monkeypatch.setattr(wanted, "counts_with_kernel", lambda _: False)
    wanted.require_wanted(typed())
    assert "more than the 60 s that auto allows" in why_not(replace(typed(), window_bytes=1 << 28))
    monkeypatch.setattr(wanted, "counts_with_kernel", lambda _: True)
    assert why_not(typed()) == "this host counts cache misses itself"

    def unreadable() -> None:
        raise Unavailable("it cannot be read", "chmod")

    monkeypatch.setattr(wanted, "kernel_source", unreadable)
    assert why_not(typed()) == "it cannot be read"


def test_the_default_tries_again_what_it_concludes() -> None:
    misses = pd.read_csv(ROOT / "data/simulated/misses.csv")
    cell = ["testbed", "working_set", "implementation", "msg_bytes"]
    total = misses.pivot_table(index=cell, columns="level", values="total_misses_per_line")
    saved = pd.DataFrame(
        {
            key: total.loc[(*key[:2], BASELINE, key[3])] - row
            for key, row in total.iterrows()
            if key[2] != BASELINE
        }
    ).max()
    again = [one for one in typed().cells() if one.variant != PLAIN]
    tried = {(one.testbed, one.working_set, one.strategy, one.msg_bytes) for one in again}
    concluded = saved.groupby(level=[0, 1, 2]).idxmax()
    assert len(concluded) == 8
    assert set(concluded) <= tried


@pytest.mark.parametrize(
    ("levels", "ways", "guessed"),
    [
        ([(1, "Data", 12), (1, "Instruction", 8), (2, "Unified", 16), (3, "Unified", 15)],
         (12, 16, 15), []),
        # the last of two levels is the second, too
        ([(1, "Data", 12), (2, "Unified", 20)], (12, 20, 20), []),
        ([], (8, 16, 16), ["l1d", "l2", "llc"]),
    ],
)  # fmt: skip
def test_the_caches_are_those_of_the_host_or_stated_with_usual_ways_where_it_tells_none(
    levels: list[tuple[int, str, int]], ways: tuple[int, ...], guessed: list[str], tmp_path: Path
) -> None:
    sizes = (49152, 2 << 20, 30 << 20)
    stated = dict(zip(LEVELS, map(Geometry, sizes, ways), strict=True))
    assert stated_caches(COUNTING, host(), files(tmp_path, *levels)) == (stated, guessed)
    counting = replace(COUNTING, caches=CacheSizes(**stated))
    assert stated_caches(counting, host(), HostFiles(tmp_path / "nothing")) == (stated, [])


def test_caches_of_another_size_keep_their_ways_and_have_whole_sets() -> None:
    stated = {"l1d": Geometry(32768, 8), "l2": Geometry((1 << 20) + 64, 16)}
    stated["llc"] = Geometry(1024, 16)
    assert in_whole_sets(stated, 64)["l2"] == Geometry(1 << 20, 16)
    half = in_whole_sets(stated, 64, 0.5)
    assert (half["l1d"], half["llc"]) == (Geometry(16384, 8), Geometry(1024, 16))
    assert in_whole_sets(stated, 64, 2.0)["l2"].size_bytes == 2 << 20


def test_sizes_that_cannot_be_the_hosts_have_to_be_stated(tmp_path: Path) -> None:
    for llc_bytes, why in (
        (None, "does not tell the size of its llc cache"),
        (1 << 20, "a smaller llc cache than its l2 cache; state"),
    ):
        with pytest.raises(Unavailable, match=why):
            stated_caches(COUNTING, host(llc_bytes=llc_bytes), HostFiles(tmp_path))
