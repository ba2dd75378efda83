"""The checks of the C sources find what is wrong in any file, and are content with the rest."""

from pathlib import Path

import pytest

from copycost.errors import HostError
from tools.compile_all import compile_all

GOOD = "int helper(void);\nint main(void)\n{\n    return helper();\n}\n"
HELPER = '#include "helper.h"\nint helper(void)\n{\n    return 0;\n}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one program that consists of two C files."""
    src = tmp_path / "src"
    src.mkdir()
    (src / "memory_floor.c").write_text('#include "helper.h"\n' + GOOD)
    (src / "helper.c").write_text(HELPER)
    (src / "helper.h").write_text("int helper(void);\n")
    return tmp_path


def test_good_sources_pass_and_leave_nothing(project: Path) -> None:
    before = sorted(project.rglob("*"))
    compile_all("cc", project)
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("helper", "named"),
    [
        (HELPER + "static int unused;\n", r"^src/helper\.c: cc refused the sources(.|\n)*unused"),
        ('#include "helper.h"\n', r"^memory_floor: cc refused the sources(.|\n)*helper"),
    ],
)
def test_a_file_with_a_warning_and_a_program_that_cannot_be_linked_are_named(
    project: Path, helper: str, named: str
) -> None:
    (project / "src/helper.c").write_text(helper)
    with pytest.raises(HostError, match=named):
        compile_all("cc", project)
