"""The plugin that simulates caches, with a few lines in QEMU's place, as its versions speak to it.

What a model misses is known exactly: by the geometry for a strided walk, by a second model of a few
lines of Python for random ones.
"""

import json
import random
import re
import subprocess
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from c.conftest import ROOT, Build

from copycost.build.toolchain import compile_program

KIB, MIB = 1 << 10, 1 << 20
LINE = 64
CACHES = {"l1d": f"{32 * KIB}:8", "l2": f"{MIB}:16", "llc": f"{16 * MIB}:16"}
SYMBOLS = """\
ffffffff80000000 __switch_to_asm
ffffffff81000000 first
ffffffff81000100 second
ffffffff81000100 also_second
ffffffffc0000000 in_a_module
"""
# what switches threads in the trace is no longer in that function
ELSEWHERE = SYMBOLS.replace("__switch_to_asm", "earlier") + "ffffffffd0000000 __switch_to_asm\n"
SENDER, RECEIVER, BEGIN, END = 1, 2, 3, 4

Counts = dict[str, Any]


def run(address: int, n: int, *accesses: str, code: str = "90") -> str:
    """Return the line of some instructions, by default such as do nothing."""
    return " ".join((hex(address), str(n), code, *accesses))


def switch(thread: int) -> str:
    """Return what the kernel does to run another thread."""
    return run(0xFFFFFFFF80000004, 1, f"load {thread:#x}", code="488ba600000000")


def mark(number: int) -> str:
    """Return a mark of src/simulated/window_mark.h."""
    return run(0x1000, 1, code=f"0f1f8400637079{number:02x}")


# a thread from which all counts on
STARTS = (switch(0x7FFF0000), mark(SENDER))


@dataclass(frozen=True, slots=True)
class Host:
    """The plugin, what loads it, both under sanitizers, and where they write."""

    program: Path
    plugin: Path
    folder: Path

    def run(
        self,
        trace: Iterable[str],
        version: int = 7,
        target: str = "x86_64",
        n_vcpus: int = 1,
        symbol_text: str = SYMBOLS,
        **settings: str,
    ) -> "subprocess.CompletedProcess[str]":
        """Execute a trace; settings of the plugin that are '' are left out."""
        symbols, result = self.folder / "symbols", self.folder / "result"
        symbols.write_text(symbol_text)
        given = {**CACHES, "line": str(LINE), "prefetcher": "none"}
        given |= {"symbols": str(symbols), "result": str(result), **settings}
        command = [self.program, self.plugin, str(version), target, str(n_vcpus)]
        return subprocess.run(
            [*command, *(f"{key}={value}" for key, value in given.items() if value)],
            input="".join(f"{line}\n" for line in trace),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def counted(self, trace: Iterable[str], **how: Any) -> dict[str, list[Counts]]:  # noqa: ANN401
        """Return the counts of functions by side."""
        done = self.run(trace, **how)
        assert done.returncode == 0, done.stderr
        found: dict[str, list[Counts]] = json.loads((self.folder / "result").read_text())
        return found["functions"]  # type: ignore[return-value]

    def user_of_sender(self, trace: Iterable[str], **how: str) -> Counts:
        """Return what a sender did in user mode, who did nothing else."""
        (user,) = self.counted(trace, **how)["sender"]
        return user


@pytest.fixture(scope="module")
def host(address_build: Build, tmp_path_factory: pytest.TempPathFactory) -> Host:
    folder = tmp_path_factory.mktemp("simulated")
    program, plugin = folder / "host", folder / "plugin.so"
    address_build.compile(["-rdynamic", ROOT / "tests/c/simulated_host.c", "-o", program, "-ldl"])
    compile_program("simulated_plugin", None, plugin, root=ROOT, sanitize="address", werror=True)
    return Host(program, plugin, folder)


def test_the_adjacent_line_is_fetched_within_its_page(host: Host) -> None:
    n_bytes = 2 * MIB  # walked through twice, which is more than any level holds
    once = [run(0x1000, 1, f"load {address}") for address in range(0, n_bytes, LINE)]
    trace = [*STARTS, *once, mark(BEGIN), *once, mark(END)]
    user = host.user_of_sender(trace, prefetcher="next_line", llc=f"{MIB}:16")
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


def test_random_walks_miss_what_a_second_model_misses(host: Host) -> None:
    chance = random.Random(7)
    accesses = [(chance.randrange(0, 256 * KIB, 8), chance.random() < 0.4) for _ in range(60_000)]
    levels = [Level(16, 4), Level(64, 8), Level(96, 12)]
    misses, write_backs = simulate(accesses, levels)
    words = (f"{'store' if is_store else 'load'} {address}" for address, is_store in accesses)
    trace = [*STARTS, mark(BEGIN), run(0x1000, 1, *words), mark(END)]
    user = host.user_of_sender(trace, l1d="4096:4", l2="32768:8", llc=f"{96 * 12 * LINE}:12")
    by_level = [user["load_misses"][name] + user["store_misses"][name] for name in CACHES]
    assert by_level == misses
    assert list(user["write_backs"].values()) == write_backs


def test_counts_go_to_the_thread_that_runs_and_to_its_functions(host: Host) -> None:
    trace = [
        switch(0x10), mark(SENDER), switch(0x20), mark(RECEIVER), run(0x1000, 100), mark(BEGIN),
        run(0x1000, 2),  # the receiver's
        switch(0x10), run(0xffffffff81000000, 5, "load 0"), run(0xffffffff81000010, 3),
        switch(0x30), run(0xffffffff81000180, 7), run(0xffff888000000000, 1),
        switch(0x20), run(0xffffffffc0000040, 11, "store 125"),  # across the end of a line
        mark(END), run(0x1000, 1000),
    ]  # fmt: skip
    counted = host.counted(trace)
    # each switch is an instruction of the thread before it; the mark at the window's begin counts
    switched = {"__switch_to_asm": (0, 1)}
    assert {
        side: {one["name"]: (one["calls"], one["instructions"]) for one in found}
        for side, found in counted.items()
    } == {
        "sender": {"first": (1, 8), **switched},
        "receiver": {"user": (0, 3), "in_a_module": (0, 11), **switched},
        "other": {"second": (0, 7), "unknown": (0, 1), **switched},
    }
    (module,) = [one for one in counted["receiver"] if one["name"] == "in_a_module"]
    assert module["kernel"]
    assert (module["loads"], module["stores"], module["store_misses"]["llc"]) == (0, 1, 2)


@pytest.mark.parametrize(
    ("code", "accesses", "iterations"),
    [
        ("f348a5", ("load 0", "store 0"), 3),  # rep movsq
        ("f3a4", ("load 0", "store 0"), 3),  # rep movsb
        ("f348ab", ("store 0",), 3),  # rep stosq
        ("f2ae", ("load 0",), 3),  # repne scasb
        ("f3a6", ("load 0", "load 0"), 3),  # repe cmpsb
        ("48a5", ("load 0", "store 0"), 0),  # movsq by itself
        ("f390", (), 0),  # pause
    ],
)
def test_a_repeated_instruction_counts_once_and_its_iterations_apart(
    host: Host, code: str, accesses: tuple[str, ...], iterations: int
) -> None:
    thrice = [run(0x1000, 1, *accesses, code=code)] * 3
    trace = [*STARTS, mark(BEGIN), *thrice, run(0x1010, 1), *thrice, mark(END)]
    user = host.user_of_sender(trace)
    assert user["string_iterations"] == 2 * iterations
    assert user["instructions"] == 1 + (3 if iterations else 7)


def test_marks_are_recognised_by_their_bytes(host: Host) -> None:
    others = (mark(5), run(0x1000, 1, code="0f1f840000000000"))
    trace = [*STARTS, mark(BEGIN), *others, run(0x1000, 4), mark(END), run(0x1000, 9)]
    assert host.user_of_sender(trace)["instructions"] == 1 + 2 + 4


WORK = (run(0x2000, 1), run(0x2001, 1, "load 0x5000"), run(0x2002, 1, "store 0x603d"))
TRACE = (
    *(switch(0x100), *5 * WORK),  # before the first mark
    *(mark(SENDER), *5 * WORK),  # warm-up
    *(mark(BEGIN), *2 * WORK),
    *(switch(0x200), *3 * WORK),
    *(run(0xFFFFFFFF81000100, 1, code="0f22d8"), *WORK),  # mov to cr3
    mark(END),
)


@pytest.mark.parametrize("version", [1, 2, 3, 5, 6, 7])
def test_every_version_of_the_interface_gives_the_same_counts(host: Host, version: int) -> None:
    by_name = {
        (side, function["name"]): (
            function["instructions"],
            function["loads"],
            function["stores"],
            sum(function["load_misses"].values()) + sum(function["store_misses"].values()),
        )
        for side, found in host.counted(TRACE, version=version).items()
        for function in found
    }
    # the store lies across the end of a line, and all is in the caches since the warm-up
    assert by_name == {
        ("sender", "user"): (2 * 3 + 1, 2, 2, 0),
        ("sender", "__switch_to_asm"): (1, 0, 0, 0),
        ("other", "user"): (4 * 3, 4, 4, 0),
        ("other", "__switch_to_asm"): (0, 1, 0, 3),
        ("other", "second"): (1, 0, 0, 0),
    }


def test_pages_are_asked_for_once_until_the_guest_may_have_moved_them(host: Host) -> None:
    # two pages of the work, one of the threads; and the two of the work again
    assert host.run(TRACE, version=1).stdout == "1 5\n"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"l1d": "32768:0"}, ("l1d", "0 ways", "1 to 1024")),
        ({"l2": "1000000:16"}, ("l2", "1000000", "multiple of 1024")),
        ({"llc": "16384:16"}, ("llc", "16384", "at least those of l2")),
        ({"l1d": ""}, ("l1d: got 0 ways",)),
        ({"line": "48"}, ("line", "48", "power of two")),
        ({"prefetcher": "stride"}, ("prefetcher=stride", "next_line")),
        ({"colour": "red"}, ("colour=red", "expected l1d")),
        ({"symbols": "/nowhere"}, ("/nowhere", "No such file")),
        ({"symbols": ""}, ("symbols=FILE", "required")),
        ({"symbols": __file__}, (f"{__file__}:1", "ascending")),
        ({"symbol_text": "ffffffff81000000 first\n"}, ("has no __switch_to_asm",)),
        ({"symbol_text": ELSEWHERE}, ("showed no thread switch, expected it to load",)),
        ({"target": "aarch64"}, ("got QEMU for aarch64, expected qemu-system-x86_64",)),
        ({"n_vcpus": 2}, ("got a guest of 2 virtual CPUs, expected one",)),
        ({"version": 8}, ("got QEMU with version 8 of its plugin interface, expected 1 to 7",)),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    host: Host, how: dict[str, Any], words: tuple[str, ...]
) -> None:
    done = host.run(TRACE, **how)
    assert done.returncode == 1
    assert done.stderr.startswith("simulated: ")
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr


def test_marks_stand_in_no_function_that_sends_or_receives(plain_build: Build) -> None:
    """So the measured path is the same with them and without."""
    for program in (plain_build.sender("two_copy"), plain_build.receiver):
        command = ["objdump", "-d", "--no-show-raw-insn", program]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        marked = {
            block.partition("<")[2].partition(">")[0]
            for block in re.split(r"\n\n", listing)
            if re.search(r"nopl +0x[1-4]797063\(", block)
        }
        assert marked <= {"work", "worker_main", "window_measure", "window_begin", "window_end"}
        assert len(marked) > 1
