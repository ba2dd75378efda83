"""The plugin itself, with a few lines in QEMU's place, as its versions speak to plugins."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from c.conftest import ROOT, Build

from copycost.build.toolchain import INCLUDE_FLAGS, compile_flags, compile_program

SYMBOLS = "ffffffff81000000 __switch_to_asm\nffffffff81000100 other\n"
# what switches threads in the host is no longer in that function
ELSEWHERE = SYMBOLS.replace("__switch_to_asm", "earlier") + "ffffffff81000200 __switch_to_asm\n"
CACHES = ("l1d=32768:8", "l2=1048576:16", "llc=16777216:16", "line=64", "prefetcher=none")


@dataclass(frozen=True, slots=True)
class Host:
    """The plugin, what loads it, and where both write."""

    program: Path
    plugin: Path
    folder: Path

    def run(
        self,
        version: int,
        target: str = "x86_64",
        n_vcpus: int = 1,
        told: Sequence[str] = CACHES,
        symbols: str = SYMBOLS,
    ) -> "subprocess.CompletedProcess[str]":
        """Run the plugin."""
        (self.folder / "symbols").write_text(symbols)
        files = (f"symbols={self.folder}/symbols", f"result={self.folder}/result")
        command = [self.program, self.plugin, str(version), target, str(n_vcpus), *told, *files]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    folder = tmp_path_factory.mktemp("plugin")
    program, plugin = folder / "host", folder / "plugin.so"
    flags = [*compile_flags(werror=True), *INCLUDE_FLAGS, "-rdynamic"]
    source = ROOT / "tests/c/simulated_host.c"
    subprocess.run(["cc", *flags, source, "-o", program, "-ldl"], cwd=ROOT, check=True)
    compile_program("simulated_plugin", None, plugin, root=ROOT, werror=True)
    return Host(program, plugin, folder)


@pytest.mark.parametrize("version", [1, 2, 3, 5, 6, 7])
def test_every_version_of_the_interface_gives_the_same_counts(host: Host, version: int) -> None:
    done = host.run(version)
    assert done.returncode == 0, done.stderr
    functions = json.loads((host.folder / "result").read_text())["functions"]
    by_name = {
        (side, function["name"]): (
            function["instructions"],
            function["loads"],
            function["stores"],
            sum(function["load_misses"].values()) + sum(function["store_misses"].values()),
        )
        for side, found in functions.items()
        for function in found
    }
    # the store lies across the end of a line, and all is in the caches since the warm-up
    assert by_name == {
        ("sender", "user"): (2 * 3 + 1, 2, 2, 0),
        ("sender", "__switch_to_asm"): (1, 0, 0, 0),
        ("other", "user"): (4 * 3, 4, 4, 0),
        ("other", "__switch_to_asm"): (0, 1, 0, 3),
        ("other", "other"): (1, 0, 0, 0),
    }


def test_pages_are_asked_for_once_until_the_guest_may_have_moved_them(host: Host) -> None:
    said = host.run(1).stdout
    # two pages of the work, one of the threads; and the two of the work again
    assert said == "1 5\n"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"target": "aarch64"}, "got QEMU for aarch64, expected qemu-system-x86_64"),
        ({"n_vcpus": 2}, "got a guest of 2 virtual CPUs, expected one"),
        ({"version": 8}, "got QEMU with version 8 of its plugin interface, expected 1 to 7"),
        ({"told": CACHES[1:]}, "l1d: got 0 ways"),
        ({"symbols": SYMBOLS.replace("__switch_to_asm", "other")}, "has no __switch_to_asm"),
        ({"symbols": ELSEWHERE}, "showed no thread switch, expected it to load"),
    ],
)
def test_what_does_not_fit_is_told_in_a_sentence(
    host: Host, how: dict[str, Any], words: str
) -> None:
    done = host.run(**{"version": 1} | how)
    assert done.returncode != 0
    assert done.stderr.startswith("simulated: ")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


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
