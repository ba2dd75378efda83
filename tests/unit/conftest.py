"""Hosts other than this one, unpacked from tests/data/host, and perfs that answer as told."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from copycost.hosts.facts.files import HostFiles

DATA = Path(__file__).parents[1] / "data" / "host"

HostTree = Callable[[str], HostFiles]
FakePerf = Callable[[str], Path]


@pytest.fixture
def host_tree(tmp_path: Path) -> HostTree:
    """Return a function that unpacks a host: a text as ``tail -n +1 FILE...`` prints it.

    A ``*`` in a path stands for 0 and the numbers that follow; each file has its word below.
    """

    def unpack(name: str) -> HostFiles:
        text = (DATA / f"{name}.txt").read_text(encoding="utf-8")
        parts = re.split(r"^==> /(.+) <==\n", text, flags=re.MULTILINE)[1:]
        root = tmp_path / name
        for path, content in zip(parts[::2], parts[1::2], strict=True):
            for number, text in enumerate(content.split() if "*" in path else [content]):
                file = root / path.replace("*", str(number))
                file.parent.mkdir(parents=True, exist_ok=True)
                packed = text.rstrip("\n").encode() + b"\n"
                file.write_bytes(gzip.compress(packed) if path.endswith(".gz") else packed)
        return HostFiles(root)

    return unpack


@pytest.fixture
def fake_perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePerf:
    """Return a function that makes the only perf on the PATH a shell script with given cases.

    The text is the body of ``case "$event" in ... esac``; what perf says goes to stderr. Any
    other call than those of a probe ends with code 98.
    """

    def make(cases: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        script = folder / "perf"
        script.write_text(
            "#!/bin/sh\n"
            'if [ "$1" = --version ]; then echo "perf version 6.8.12"; exit 0; fi\n'
            '[ "$LC_ALL" = C ] || { echo "wrong locale" >&2; exit 98; }\n'
            '[ "$1 $2 $3 $5 $6" = "stat -j -e -- sh" ] || { echo "call: $*" >&2; exit 98; }\n'
            """counted() { printf '{"event": "%s", "counter-value": "%s"}\\n' "$1" "$2" >&2; }\n"""
            f'IFS=,; for event in $4; do case "$event" in\n{cases}\nesac; done\n',
            encoding="utf-8",
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.setattr("copycost.hosts.facts.tools._UBUNTU_PERFS", "nowhere/*")
        return script

    return make
