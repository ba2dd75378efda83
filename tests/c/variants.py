"""Programs that differ from the real ones in a few words: careless ones, and those of other hosts.

Only what is changed is compiled again; the rest is linked from a `Build`.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from c.conftest import ROOT, Build

from copycost.toolchain import LIBRARIES, URING_LIBRARY, compile_flags, translation_units

SRC = ROOT / "src"


def sender_variant(
    build: Build,
    strategy: str,
    folder: Path,
    changes: Mapping[str, tuple[str, str]],
    recompiled: Sequence[str] = (),
) -> Path:
    """Compile a sender in which some texts are replaced.

    Parameters
    ----------
    build, strategy
        Where the rest comes from.
    folder
        For the copies, and for the program, which is returned.
    changes
        By file in src: what is replaced by what. A text must occur.
    recompiled
        Other files that include a header among these, C files and headers.
    """
    build.sender(strategy)  # compiles every unit
    copies = {}
    for name in (*changes, *recompiled):
        text = (SRC / name).read_text()
        before, after = changes.get(name, ("", ""))
        assert before in text
        copies[name] = folder / name
        copies[name].parent.mkdir(parents=True, exist_ok=True)
        copies[name].write_text(text.replace(before, after) if before else text)
    flags = compile_flags(sanitize=build.sanitize)
    objects = []
    for unit in translation_units("sender", strategy, ROOT):
        copy = copies.get(str(unit.relative_to(SRC)))
        if copy is None:
            objects.append(build.units[unit])
            continue
        objects.append(copy.with_suffix(".o"))
        include = [f"-I{folder}", f"-I{SRC}"]
        subprocess.run(["cc", *flags, *include, "-c", copy, "-o", objects[-1]], check=True)
    program = folder / f"sender_{strategy}"
    libraries = [*LIBRARIES, URING_LIBRARY] if strategy.startswith("uring") else LIBRARIES
    subprocess.run(["cc", *flags, *objects, "-o", program, *libraries], check=True)
    return program
