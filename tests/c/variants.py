"""Programs that differ from the real ones in a few words: careless ones, and those of other hosts.

Only what is changed is compiled again; the rest is linked from a `Build`.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from c.conftest import ROOT, Build

from copycost.build.toolchain import libraries, translation_units

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
        C files that include a header among these.
    """
    copies = {}
    for name in (*changes, *recompiled):
        text = (SRC / name).read_text()
        before, after = changes.get(name, ("", ""))
        assert before in text
        copies[name] = folder / name
        copies[name].parent.mkdir(parents=True, exist_ok=True)
        copies[name].write_text(text.replace(before, after) if before else text)
    units = translation_units("sender", strategy, ROOT)
    kept = [unit for unit in units if str(unit.relative_to(SRC)) not in copies]
    objects = build.objects(kept)
    for unit in units:
        copy = copies.get(str(unit.relative_to(SRC)))
        if copy is not None:
            objects.append(copy.with_suffix(".o"))
            flags = [flag for flag in build.flags if flag != "-Werror"]  # careless ones
            command = ["cc", f"-I{folder}", *flags, "-c", copy, "-o", objects[-1]]
            subprocess.run(command, cwd=ROOT, check=True)
    program = folder / f"sender_{strategy}"
    build.link(objects, program, libraries("sender", strategy, ROOT))
    return program
