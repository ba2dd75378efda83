"""README, CONTRIBUTING and the pages of docs/ name only what there is."""

import csv
import re
import subprocess
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
import yaml

from copycost.build.toolchain import strategies
from copycost.config.check import check_config
from copycost.config.sources import Source, Surroundings, usual_tree
from copycost.config.testbeds import TESTBEDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
USING = (ROOT / "docs/using.md").read_text()
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "config/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))

# made by a run, or by the reader
MADE_BY_A_RUN = {"report/report.html", "report/report.pdf", "report/report.qmd"}


def table(name: str) -> list[dict[str, str]]:
    """Return the rows behind a figure of the README."""
    with (ROOT / f"docs/{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def said(pattern: str) -> list[float]:
    """Return the numbers in a sentence of the README."""
    found = re.search(pattern, " ".join(README.split()))
    assert found is not None
    return [float(number) for number in found.groups()]


def test_layout_names_every_folder_of_the_sources_and_only_what_there_is() -> None:
    section = CONTRIBUTING.split("## The folders")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    told = [path for cell in cells for path in re.findall(r"`([^`]+)`", cell)]
    assert all((ROOT / path).exists() for path in told)
    assert {f"src/{path.name}/" for path in (ROOT / "src").iterdir() if path.is_dir()} <= set(told)


def anchors(page: Path) -> set[str]:
    """Return what a link may name behind # on a page."""
    titles = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@each_page
def test_links_lead_somewhere_and_files_in_the_text_exist(page: Path) -> None:
    text = page.read_text()
    broken = []
    for link in re.findall(r"\]\(((?!\w+://)[^)\s]+)\)", text):
        name, _, anchor = link.partition("#")
        to = page.parent / name if name else page
        if not to.exists() or (anchor and anchor not in anchors(to)):
            broken.append(link)
    assert broken == []
    folders = "src|tests|config|envs|docs|report|workflow|tools|data"
    named = set(re.findall(rf"(?<![\w/.])(?:{folders})/[\w./-]+\w(?![\w*])", text))
    missing = {name for name in named if "NAME" not in name and not (ROOT / name).exists()}
    assert missing <= MADE_BY_A_RUN


def test_pages_that_code_and_templates_name_exist() -> None:
    folders = ("workflow", "report", "tools", "config", "data", "tests/golden")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [ROOT / name for name in ("run", "config.yaml", "Snakefile", "Containerfile")]
    texts = [path.read_bytes() for path in files if path.suffix not in (".pyc", ".gz")]
    named = set(re.findall(rb"docs/\w+\.(?:md|csv|svg)", b"\n".join(texts)))
    assert {name for name in named if not (ROOT / name.decode()).exists()} == set()


@each_page
def test_subcommands_are_those_of_the_front_door(page: Path) -> None:
    assert set(re.findall(r"\./run\s+([a-z][a-z_-]+)", page.read_text())) <= subcommands()


@cache
def subcommands() -> set[str]:
    """Return what may follow ./run: what its help shows, and targets of the Snakefile."""
    shown = subprocess.run(
        [ROOT / "run", "help"], capture_output=True, text=True, check=True
    ).stdout
    files = [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    targets = re.findall(r"^rule (\w+):", "\n".join(map(Path.read_text, files)), re.MULTILINE)
    return {"help", *re.findall(r"\./run ([a-z][a-z-]+)", shown), *targets}


@each_page
def test_tools_that_need_the_package_are_given_its_path(page: Path) -> None:
    """Nothing installs the package: without its path, a redirection leaves an empty page."""
    text = " ".join(page.read_text().split())
    for given, name in re.findall(r"(PYTHONPATH=\S+ )?python -m (tools\.\w+|copycost)", text):
        module = ROOT / name.replace(".", "/")
        file = module / "__main__.py" if module.is_dir() else module.with_suffix(".py")
        assert given or (file.is_file() and "copycost" not in file.read_text()), name


def test_every_configuration_page_and_testbed_is_in_its_table() -> None:
    config, docs = ROOT / "config", ROOT / "docs"
    rows = re.findall(r"^\| \[(\w+\.yaml)\]", (config / "README.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(path.name for path in config.glob("*.yaml"))
    index = re.findall(r"\]\((\w+\.md)\)", (docs / "README.md").read_text())
    assert {path.name for path in docs.glob("*.md")} - {"README.md"} <= set(index)
    rows = (docs / "conditions.md").read_text().partition("| testbed |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", rows, re.MULTILINE) == list(TESTBEDS)


def test_the_numbers_of_the_readme_are_those_of_its_figures() -> None:
    points = {
        (row["condition"], row["implementation"], row["msg_bytes"]): float(row["value"])
        for row in table("headline")
    }
    rows = re.findall(r"^\| .*\|.* ns.*$", README, re.MULTILINE)
    sizes = {"veth": "65536", "sink": "65507", "sink_cold": "65507"}
    assert [[float(number) for number in re.findall(r"([\d.]+) ns", row)] for row in rows] == [
        [
            float(f"{points[condition, name, size]:.2g}")
            for name in ("two_copy", "one_copy", "zero_copy")
        ]
        for condition, size in sizes.items()
    ]
    times: dict[str, float] = defaultdict(float)
    for row in (row for row in table("virtual") if row["msg_bytes"] == "65536"):
        for name in (row["condition"], f"{row['condition']} {row['part']}"):
            times[name] += float(row["multiple"])
    in_io = 100.0 * times["vm_pair io"] / times["vm_pair"]
    assert said(
        r"took (\d+) times .* `loopback` within a guest, and (\d+) times that of `veth` .* "
        r"of which (\d+) % was QEMU's main loop"
    ) == [round(value) for value in (times["vm_loopback"], times["vm_pair"], in_io)]
    total = {
        (row["panel"], row["implementation"], row["level"]): float(row["total"])
        for row in table("simulated")
        if row["msg_bytes"] == "49152"
    }
    saved = [
        total[panel, "two_copy", level] - total[panel, name, level]
        for panel, name, level in (
            ("sink, hot", "one_copy", "l1d"),
            ("sink, hot", "zero_copy", "l1d"),
            ("sink, cold", "zero_copy", "llc"),
        )
    ]
    assert said(
        r"`one_copy` saves ([\d.]+) misses .* zero-copy ([\d.]+), and of the last level ([\d.]+)"
    ) == [float(f"{misses:.2g}") for misses in saved]


def test_the_continuous_integration_runs_what_the_readme_says() -> None:
    assert "`./run test` runs all checks" in README
    runs = re.compile(r'^exec (?:env CI=\S+ )?\./run test "\$@"$', re.MULTILINE)
    assert runs.search((ROOT / ".ci/run").read_text())
    workflow = yaml.safe_load((ROOT / ".github/workflows/checks.yaml").read_text())
    steps = workflow["jobs"]["checks"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]


def test_every_hook_before_a_commit_is_one_of_the_checks() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    script = (ROOT / "tests/checks.sh").read_text()
    known = set(re.findall(r"^    (\w+)\) ", script, re.MULTILINE))
    (hooks,) = (repository["hooks"] for repository in config["repos"])
    for hook in hooks:
        command, *checks = hook["entry"].split()
        assert command == "tests/checks.sh"
        assert set(checks) <= known


def test_the_newest_version_of_the_changelog_is_this_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    titles = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert titles[0] == project["version"]


def test_example_configuration_is_valid() -> None:
    example = yaml.safe_load(re.search(r"```yaml\n(.*?)```", USING, re.DOTALL)[1])
    config = usual_tree()
    for section, values in example.items():
        config[section] |= values
    checked = check_config([Source("example", config)], Surroundings(strategies(ROOT), {0, 1}))
    assert checked.streams.msg_bytes == (1000, 65536, 1048576)
