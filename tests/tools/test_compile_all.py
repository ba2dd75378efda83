"""The check of the C sources names what is wrong in any file; that it is content, each check is."""

from pathlib import Path

import pytest

from copycost.errors import HostError
from tools.compile_all import compile_all

PROGRAM = '#include "helper.h"\nint main(void)\n{\n    return helper();\n}\n'
HELPER = '#include "helper.h"\nint helper(void)\n{\n    return 0;\n}\n'


@pytest.mark.parametrize(
    ("helper", "named"),
    [
        (HELPER + "static int unused;\n", r"^src/helper\.c: cc refused the sources(.|\n)*unused"),
        ('#include "helper.h"\n', r"^memory_floor: cc refused the sources(.|\n)*helper"),
    ],
)
def test_a_file_with_a_warning_and_a_program_that_cannot_be_linked_are_named(
    tmp_path: Path, helper: str, named: str
) -> None:
    src = tmp_path / "src"
    src.mkdir()
    for name, text in (
        ("memory_floor.c", PROGRAM), ("helper.c", helper), ("helper.h", "int helper(void);\n")
    ):  # fmt: skip
        (src / name).write_text(text)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(HostError, match=named):
        compile_all("cc", tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
