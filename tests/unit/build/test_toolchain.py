"""Which files decide a program, and what a user hears when one cannot be compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from copycost.build import toolchain
from copycost.errors import ConfigError, HostError

ROOT = Path(__file__).parents[3]
RECEIVER = "recv"
# The program with the fewest sources, where any will do.
SMALLEST: tuple[toolchain.Program, None] = ("memory_floor", None)


def names(program: toolchain.Program, part: str | None, root: Path = ROOT) -> set[str]:
    paths = toolchain.sources(program, part, root)
    assert len(paths) == len(set(paths))
    return {str(path.relative_to(root)) for path in paths}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the C sources."""
    for path in (ROOT / "src").rglob("*.[ch]"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return tmp_path


def test_a_sender_depends_on_its_own_strategy_only() -> None:
    every = {f"src/strategies/{name}.c" for name in toolchain.strategies(ROOT)}
    for strategy in toolchain.strategies(ROOT):
        assert names("sender", strategy) & every == {f"src/strategies/{strategy}.c"}
    assert not names("receiver", RECEIVER) & every


def test_every_source_file_belongs_to_a_program() -> None:
    used: set[str] = set()
    for program, part in toolchain.all_programs(ROOT):
        used |= names(program, part)
    assert used == {str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.[ch]")}


def test_unknown_strategy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"three_copy\.c: not found; there are .*two_copy"):
        toolchain.sources("sender", "three_copy", ROOT)
    with pytest.raises(ConfigError, match="a sender has a strategy"):
        toolchain.sources("sender", None, ROOT)


def test_compiler_messages_reach_the_user(checkout: Path) -> None:
    with (checkout / "src/memory_floor.c").open("a") as file:
        file.write("this is no C\n")
    with pytest.raises(HostError) as caught:
        toolchain.compile_program(*SMALLEST, checkout / "out", root=checkout)
    assert "memory_floor: cc refused the sources" in str(caught.value)
    assert "memory_floor.c" in str(caught.value)
    assert "error: " in str(caught.value)
    with pytest.raises(HostError, match="nonesuch-cc not found, expected gcc or clang"):
        toolchain.run_compiler(["nonesuch-cc"], "memory_floor", checkout)


def test_a_program_tells_its_sources_and_is_the_same_anywhere(checkout: Path) -> None:
    def digest() -> str:
        return toolchain.source_digest(toolchain.sources(*SMALLEST, checkout), checkout)

    first, second = checkout / "bin" / "first", checkout / "bin" / "second"
    toolchain.compile_program(*SMALLEST, first, root=checkout)
    toolchain.compile_program(*SMALLEST, second, root=ROOT)
    assert first.read_bytes() == second.read_bytes()
    told = subprocess.run([first, "--version"], capture_output=True, text=True, check=True).stdout
    assert told.startswith(f"memory_floor, source {digest()[:16]}, gcc ")
    assert "flags -std=c11" in told
    with (checkout / "src/clock.h").open("a") as file:
        file.write("\n")
    assert digest()[:16] not in told


def test_a_linker_that_met_a_full_disk_has_no_fault_of_the_sources(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from copycost.build.toolchain import compile_program\n"
        "from copycost.records.disk import lacks_room\n"
        "out = Path('program').absolute()\n"
        "try: compile_program('memory_floor', None, out, root=Path(ROOT))\n"
        "except Exception as error: print(lacks_room(error), error)"
    ).replace("ROOT", repr(str(ROOT)))
    shell = 'mount -t tmpfs -o size=8k full "$PWD" && cd "$PWD" && exec "$@"'
    own = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shell, "sh")
    if subprocess.run([*own, "true"], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount in a namespace of its own")
    done = subprocess.run(
        [*own, sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("True"), done.stdout
