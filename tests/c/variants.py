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
    """Return a sender in which some texts are replaced.

    `changes` says, by file in src, what, which must occur, is replaced by what; `recompiled` are C
    files that include a header among these. The copies are put into the folder, as is the program.
    """
    for name in (*changes, *recompiled):
        text = (SRC / name).read_text()
        before, after = changes.get(name, (text, text))
        assert before in text
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace(before, after))
    units = [unit.relative_to(SRC) for unit in translation_units("sender", strategy, ROOT)]
    objects = build.objects([SRC / unit for unit in units if not (folder / unit).exists()])
    flags = [flag for flag in build.flags if flag != "-Werror"]  # careless ones
    for copy in (folder / unit for unit in units if (folder / unit).exists()):
        objects.append(copy.with_suffix(".o"))
        command = ["cc", f"-I{folder}", *flags, "-c", copy, "-o", objects[-1]]
        subprocess.run(command, cwd=ROOT, check=True)
    program = folder / f"sender_{strategy}"
    build.link(objects, program, libraries("sender", strategy, ROOT))
    return program
