"""The cache model and the counting of the simulation, fed with traces; no QEMU in it.

What a model misses is known exactly: by the geometry for a strided walk, by a second model of a few
lines of Python for random ones.
"""

import json
import random
import subprocess
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from c.conftest import Build

KIB, MIB = 1 << 10, 1 << 20
LINE = 64
CACHES = {"l1d": f"{32 * KIB}:8", "l2": f"{MIB}:16", "llc": f"{16 * MIB}:16"}
SYMBOLS = """\
ffffffff81000000 first
ffffffff81000100 second
ffffffff81000100 also_second
ffffffffc0000000 in_a_module
"""
SENDER, RECEIVER, BEGIN, END = 1, 2, 3, 4
MARK = "0f1f8400637079"

Replay = Callable[..., "subprocess.CompletedProcess[str]"]
Counts = dict[str, Any]


@pytest.fixture(scope="module")
def replay(address_build: Build, tmp_path_factory: pytest.TempPathFactory) -> Replay:
    """Return a function that runs a trace, with settings of the caches, under sanitizers."""
    folder = tmp_path_factory.mktemp("simulated")
    symbols = folder / "symbols"
    symbols.write_text(SYMBOLS)
    names = ["cache", "counting", "hierarchy", "instruction", "result", "settings", "symbols"]
    sources = [*(f"simulated/{name}" for name in names), "program/json", "failure"]
    program = address_build.check_program("simulated_trace", sources, folder)

    def run(trace: Iterable[str], **settings: str) -> "subprocess.CompletedProcess[str]":
        given = {
            **CACHES,
            "line": str(LINE),
            "prefetcher": "none",
            "symbols": str(symbols),
            "result": "-",
            **settings,
        }
        return subprocess.run(
            [program, *(f"{key}={value}" for key, value in given.items() if value)],
            input="".join(f"{line}\n" for line in trace),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


def counts_of(done: "subprocess.CompletedProcess[str]", side: str = "other") -> list[Counts]:
    """Return the counts of a side's functions."""
    assert done.returncode == 0, done.stderr
    found: list[Counts] = json.loads(done.stdout)["functions"][side]
    return found


def test_the_adjacent_line_is_fetched_within_its_page(replay: Replay) -> None:
    n_bytes = 2 * MIB  # walked through twice, which is more than any level holds
    once = [f"load {address}" for address in range(0, n_bytes, LINE)]
    trace = ["run 0x1000 1", *once, f"mark {BEGIN}", *once, f"mark {END}"]
    (user,) = counts_of(replay(trace, prefetcher="next_line", llc=f"{MIB}:16"))
    n_pages = n_bytes // 4096
    assert user["loads"] == n_pages * 64
    assert user["load_misses"] == {"l1d": n_pages * 64, "l2": n_pages, "llc": n_pages}
    assert user["prefetches"] == n_pages * 63


@dataclass
class Level:
    """One level, written as simply as can be."""

    n_sets: int
    n_ways: int
    sets: dict[int, "OrderedDict[int, bool]"] = field(default_factory=dict)

    def use(self, line: int, dirty: bool) -> bool:
        """Return whether a line is there, which makes it the last one used."""
        lines = self.sets.setdefault(line % self.n_sets, OrderedDict())
        if line not in lines:
            return False
        lines[line] |= dirty
        lines.move_to_end(line)
        return True

    def put(self, line: int, dirty: bool) -> tuple[int, bool] | None:
        """Put in a line that is not there, and return the one that leaves, if any."""
        lines = self.sets.setdefault(line % self.n_sets, OrderedDict())
        lines[line] = dirty
        return lines.popitem(last=False) if len(lines) > self.n_ways else None

    def mark(self, line: int) -> bool:
        """Mark a line dirty, if it is there."""
        lines = self.sets.setdefault(line % self.n_sets, OrderedDict())
        if line in lines:
            lines[line] = True
        return line in lines


def simulate(accesses: Sequence[tuple[int, bool]], levels: list[Level]) -> tuple[Any, Any]:
    """Return misses and write-backs per level."""
    misses, write_backs = [0] * len(levels), [0] * len(levels)

    def put(number: int, line: int, dirty: bool) -> None:
        leaving = levels[number].put(line, dirty)
        if leaving is not None and leaving[1]:
            write_backs[number] += 1
            if number + 1 < len(levels) and not levels[number + 1].mark(leaving[0]):
                put(number + 1, leaving[0], True)

    for address, is_store in accesses:
        line = address // LINE
        missed = 0
        while missed < len(levels) and not levels[missed].use(line, is_store and missed == 0):
            misses[missed] += 1
            missed += 1
        for number in reversed(range(missed)):
            put(number, line, is_store and number == 0)
    return misses, write_backs


def test_random_walks_miss_what_a_second_model_misses(replay: Replay) -> None:
    chance = random.Random(7)
    accesses = [(chance.randrange(256 * KIB), chance.random() < 0.4) for _ in range(60_000)]
    levels = [Level(16, 4), Level(64, 8), Level(96, 12)]
    misses, write_backs = simulate(accesses, levels)
    trace = [f"mark {BEGIN}", "run 0x1000 1"]
    trace += [f"{'store' if is_store else 'load'} {address}" for address, is_store in accesses]
    (user,) = counts_of(
        replay([*trace, f"mark {END}"], l1d="4096:4", l2="32768:8", llc=str(96 * 12 * LINE) + ":12")
    )
    by_level = [user["load_misses"][name] + user["store_misses"][name] for name in CACHES]
    assert by_level == misses
    assert list(user["write_backs"].values()) == write_backs


def test_counts_go_to_the_thread_that_runs_and_to_its_functions(replay: Replay) -> None:
    trace = [
        "switch 0x10", f"mark {SENDER}", "switch 0x20", f"mark {RECEIVER}",
        "run 0x1000 100", f"mark {BEGIN}",
        "run 0x1000 2",  # the receiver's
        "switch 0x10", "run 0xffffffff81000000 5", "load 0", "run 0xffffffff81000010 3",
        "switch 0x30", "run 0xffffffff81000180 7", "run 0xffff888000000000 1",
        "switch 0x20", "run 0xffffffffc0000040 11", "store 64",
        f"mark {END}", "run 0x1000 1000",
    ]  # fmt: skip
    done = replay(trace)
    found = {
        side: {f["name"]: (f["calls"], f["instructions"]) for f in counts_of(done, side)}
        for side in ("sender", "receiver", "other")
    }
    assert found == {
        "sender": {"first": (1, 8)},
        "receiver": {"user": (0, 2), "in_a_module": (0, 11)},
        "other": {"second": (0, 7), "unknown": (0, 1)},
    }
    (module,) = [f for f in counts_of(done, "receiver") if f["kernel"]]
    assert (module["loads"], module["stores"], module["store_misses"]["llc"]) == (0, 1, 1)


@pytest.mark.parametrize(
    ("code", "accesses", "iterations"),
    [
        ("f348a5", ("load", "store"), 3),  # rep movsq
        ("f3a4", ("load", "store"), 3),  # rep movsb
        ("f348ab", ("store",), 3),  # rep stosq
        ("f2ae", ("load",), 3),  # repne scasb
        ("f3a6", ("load", "load"), 3),  # repe cmpsb
        ("48a5", ("load", "store"), 0),  # movsq by itself
        ("f390", (), 0),  # pause
    ],
)
def test_a_repeated_instruction_counts_once_and_its_iterations_apart(
    replay: Replay, code: str, accesses: tuple[str, ...], iterations: int
) -> None:
    once = [f"code 0x1000 {code}", *(f"{word} 0" for word in accesses)]
    twice = [*once * 3, "run 0x1010 1", *once * 3]
    (user,) = counts_of(replay([f"mark {BEGIN}", *twice, f"mark {END}"]))
    assert user["string_iterations"] == 2 * iterations
    assert user["instructions"] == (3 if iterations else 7)


def test_marks_are_recognised_by_their_bytes(replay: Replay) -> None:
    trace = ["switch 1", f"code 0x1000 {MARK}01", f"code 0x1000 {MARK}03", "run 0x1000 4"]
    (user,) = counts_of(replay([*trace, f"code 0x1000 {MARK}04", "run 0x1000 9"]), "sender")
    assert user["instructions"] == 1 + 4 + 1
    other = [*trace[:2], f"code 0x1000 {MARK}05", "code 0x1000 0f1f840000000000", "run 0x1000 4"]
    (user,) = counts_of(replay(other), "sender")
    assert user["instructions"] == 1 + 1 + 1 + 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"l1d": "32768:0"}, ("l1d", "0 ways", "1 to 1024")),
        ({"l2": "1000000:16"}, ("l2", "1000000", "multiple of 1024")),
        ({"llc": "16384:16"}, ("llc", "16384", "at least those of l2")),
        ({"l1d": ""}, ("l1d", "0 ways")),
        ({"line": "48"}, ("line", "48", "power of two")),
        ({"prefetcher": "stride"}, ("prefetcher=stride", "next_line")),
        ({"colour": "red"}, ("colour=red", "expected l1d")),
        ({"symbols": "/nowhere"}, ("/nowhere", "No such file")),
        ({"symbols": ""}, ("symbols=FILE", "required")),
        ({"symbols": __file__}, (f"{__file__}:1", "ascending")),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    replay: Replay, settings: dict[str, str], words: tuple[str, ...]
) -> None:
    done = replay([], **settings)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr
