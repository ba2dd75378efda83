"""README and CONTRIBUTING name only what there is."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from copycost.build.toolchain import strategies
from copycost.config.check import check_config
from copycost.config.rules import Surroundings
from copycost.grid.testbeds import TESTBEDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()

# made by a run, or by the reader
NOT_IN_THE_REPOSITORY = ("results/", "mine.yaml", "src/strategies/NAME.c", "src/receivers/NAME.c")


def first_column(title: str) -> list[str]:
    """Return what the first column of the table in a section of CONTRIBUTING names."""
    section = CONTRIBUTING.split(f"## {title}")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [path for cell in cells for path in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("path", first_column("The folders"))
def test_layout_names_paths_that_exist(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_folder_of_the_sources_is_in_the_layout() -> None:
    folders = {f"src/{path.name}/" for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert folders <= set(first_column("The folders"))


def test_every_room_of_the_package_is_named() -> None:
    package = ROOT / "workflow/copycost"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert sorted(first_column("The rooms of the package")) == sorted(rooms | {"errors.py"})


@pytest.mark.parametrize("page", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert links
    titles = re.findall(r"^#+ (.*)", page, re.MULTILINE)
    anchors = {"#" + re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    files = [link for link in links if "://" not in link and link not in anchors]
    assert [name for name in files if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_files_in_the_text_exist(page: str) -> None:
    folders = "src|tests|config|envs|docs|report|workflow"
    named = set(re.findall(rf"(?<![\w/])(?:{folders})/[\w./-]+\w", page))
    missing = {name for name in named if "NAME" not in name and not (ROOT / name).exists()}
    assert missing <= set(NOT_IN_THE_REPOSITORY)


def test_subcommands_are_those_of_the_front_door() -> None:
    shown = subprocess.run(
        [ROOT / "run", "help"], capture_output=True, text=True, check=True
    ).stdout
    known = set(re.findall(r"\./run ([a-z][a-z-]+)", shown))
    targets = {"tables", "compare"}
    assert set(re.findall(r"\./run\s+([a-z][a-z-]+)", README)) <= known | targets


def test_every_implementation_is_in_the_table() -> None:
    tables = re.findall(r"^\| implementation \|.*\n\|[-|]*\n((?:\|.*\n)+)", README, re.MULTILINE)
    named = {name for rows in tables for name in re.findall(r"^\| `(\w+)`", rows, re.MULTILINE)}
    assert named == set(strategies(ROOT)) - {"null"}


def test_every_testbed_is_in_the_table() -> None:
    rows = re.search(r"^\| testbed \|.*\n\|[-|]*\n((?:\|.*\n)+)", README, re.MULTILINE)
    assert rows is not None
    assert re.findall(r"^\| `(\w+)`", rows[1], re.MULTILINE) == list(TESTBEDS)


def test_example_configuration_is_valid() -> None:
    example = yaml.safe_load(re.search(r"```yaml\n(.*?)```", README, re.DOTALL)[1])
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    for section, values in example.items():
        config[section] |= values
    checked = check_config(
        config,
        sources=[("example", example)],
        around=Surroundings(strategies(ROOT), {0, 1}),
    )
    assert checked.streams.msg_bytes == (1000, 65536, 1048576)
