"""The locked environments: complete, hashed, without addresses, and agreeing with one another."""

import re
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ENVS = ROOT / "envs"
LOCKS = ["requirements", "requirements-dev", "requirements-measure", "requirements-slurm", "uv"]

# conda-forge splits or renames some packages
CONDA_NAMES = {
    "matplotlib-base": "matplotlib",
    "seaborn-base": "seaborn",
    "python-fastjsonschema": "fastjsonschema",
    "pypandoc": "pypandoc-binary",
    "typst-py": "typst",
}
# packages whose import has another name than the package
IMPORTED_AS = {
    "yaml": "pyyaml",
    "pypandoc": "pypandoc-binary",
    # parts of it that have packages of their own
    "snakemake_interface_common": "snakemake",
    "snakemake_interface_report_plugins": "snakemake",
}
NOT_IMPORTED = {"pyarrow"}  # pandas writes and reads Parquet with it
CONDA_ONLY = {"python", "quarto", "pandoc", "typst", "compilers", "gcc"}


_IMPORT = re.compile(r"^\s*(?:import|from(?= [\w.]+ import\b)) (\w+)", re.MULTILINE)


def wanted(name: str) -> set[str]:
    """Return the names that an .in file asks for, with those of the files it includes."""
    names = set()
    for line in (ENVS / f"{name}.in").read_text().splitlines():
        entry = line.split("#")[0].strip()
        if entry.startswith("-r "):
            names |= wanted(Path(entry[3:]).stem)
        elif entry:
            names.add(re.match(r"[A-Za-z0-9._-]+", entry).group().lower())
    return names


def entries(name: str) -> list[str]:
    """Return the entries of a lock file, each with its continuation lines."""
    text = (ENVS / f"{name}.txt").read_text()
    kept = "\n".join(line for line in text.splitlines() if not line.strip().startswith("#"))
    return [entry for entry in kept.replace("\\\n", " ").splitlines() if entry.strip()]


def pins(name: str) -> set[tuple[str, str]]:
    """Return (package, version) of every entry; a package may have one per Python version."""
    return {re.match(r"([\w.-]+)==([\w.]+)", entry).groups() for entry in entries(name)}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_all_that_is_asked_for_pinned_and_hashed_without_addresses(name: str) -> None:
    for entry in entries(name):
        assert re.match(r"[\w.-]+==[\w.]+( *;[^\\]*?)? +--hash=sha256:[0-9a-f]{64}\b", entry), entry
    text = (ENVS / f"{name}.txt").read_text()
    assert not re.search(r"://|@ |^ *--?(index|extra|find|trusted|i\b|f\b)", text, re.MULTILINE)
    assert wanted(name) <= {package for package, _ in pins(name)}


def test_whoever_tests_or_only_measures_has_the_same_versions() -> None:
    assert pins("requirements-measure") < pins("requirements") <= pins("requirements-dev")


def test_everything_that_is_imported_is_asked_for_and_nothing_else() -> None:
    workflow = [path for kind in ("py", "smk") for path in (ROOT / "workflow").rglob(f"*.{kind}")]
    texts = [path.read_text() for path in (*workflow, ROOT / "Snakefile")]
    imported = {name for text in texts for name in _IMPORT.findall(text)}
    third_party = imported - set(sys.stdlib_module_names) - {"copycost"}
    used = {IMPORTED_AS.get(name, name) for name in third_party} | NOT_IMPORTED
    assert used == wanted("requirements")


def test_conda_environment_agrees_with_the_lock() -> None:
    dependencies = yaml.safe_load((ENVS / "environment.yaml").read_text())["dependencies"]
    entry = re.compile(r"(?:\w+::)?([\w-]+)(?:>?=(.*))?")
    conda = dict(entry.fullmatch(one).groups() for one in dependencies)
    ours = {CONDA_NAMES.get(name, name): conda[name] for name in conda.keys() - CONDA_ONLY}
    assert ours.keys() == wanted("requirements")
    locked = pins("requirements")
    for name, pin in ours.items():
        versions = [version for package, version in locked if package == name]
        assert pin is None or any(f"{v}.".startswith(f"{pin}.") for v in versions), name
