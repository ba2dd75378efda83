"""Compile all programs with warnings as errors, or lint their sources; part of `./run test`.

``python tests/compile_check.py build gcc`` (or clang), ``python tests/compile_check.py tidy``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from copycost.errors import CopycostError
from copycost.toolchain import LANGUAGE_FLAGS, compile_program, strategies

ROOT = Path(__file__).parents[1]


def build(compiler: str) -> str:
    """Compile the receiver and a sender per strategy; return what was done."""
    with tempfile.TemporaryDirectory() as folder:
        programs = [("receiver", None), *(("sender", name) for name in strategies(ROOT))]
        for program, strategy in programs:
            output = Path(folder) / f"{program}_{strategy}"
            compile_program(program, strategy, output, root=ROOT, compiler=compiler, werror=True)
    return f"{len(programs)} programs without a warning"


def tidy() -> str:
    """Run clang-tidy, as .clang-tidy says, over all sources; return what was done."""
    sources = sorted([*ROOT.glob("src/*.c"), *ROOT.glob("src/strategies/*.c")])
    compiler_options = [
        *[*LANGUAGE_FLAGS, f"-I{ROOT / 'src'}"],
        *['-DCOPYCOST_SOURCE_DIGEST="0"', '-DCOPYCOST_FLAGS=""'],
    ]
    done = subprocess.run(
        ["clang-tidy", "--quiet", "--warnings-as-errors=*", *sources, "--", *compiler_options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CopycostError(f"{done.stdout}\n{done.stderr}")
    return f"{len(sources)} sources without a finding"


def main(arguments: list[str]) -> int:
    """Do what the arguments say; return the exit code."""
    try:
        print(build(arguments[1]) if arguments[0] == "build" else tidy())
    except CopycostError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
