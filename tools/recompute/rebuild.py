"""What follows from the raw records, made again in a copy of the checkout, and what differs then.

Nothing is measured: where records are missing, the rules that would measure fail in the copy.
"""

import csv
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "results", "tests", "*.egg-info")
_SOURCES = (
    *("config.yaml", "raw", "passes", "host.json", "guest.json", "peers", "memory.json"),
    "simulated/walks.json",
)
"""What is measured or asked for; whatever else lies in results follows from it."""
_NO_RESULTS = ("bin", "guest", "logs", "aside", "fleet", "audit", "simulated/guests")
_TYPESET = "report/typesetters.json"
_MEASURING = (
    *("run_cell", "profile_cell", "run_driven", "measure_memory", "collect_host"),
    *("collect_guest", "collect_peer", "choose_cells", "count_simulated", "walk_simulated"),
)
_STUDIES = {
    "profile": "profile/facts.json",
    "cpu_budget": "cpu_budget/facts.json",
    "datagrams": "datagrams/facts.json",
    "simulated": "simulated/facts.json",
    "figures": "figures",
    "tables": "tables/quality.csv",
}
"""The targets that go beyond the report, and what stands where one was reached."""
_NEVER_NEWER_S = 1_000_000_000


def rebuild(results: Path, to: Path) -> Path:
    """Return the results that this checkout makes of the records of others.

    Raises ValueError where something would have to be measured, or a rule failed, whose words are
    told.
    """
    shutil.copytree(ROOT, to, symlinks=True, ignore=_NOT_COPIED)
    for name in _MEASURING:
        script = to / f"workflow/scripts/{name}.py"
        script.write_text('raise SystemExit("nothing is measured here")\n', encoding="utf-8")
    made = to / "results"
    for name in _SOURCES:
        source = results / name
        if source.exists():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, made / name)
    shutil.copy(results / "config.yaml", to / "asked_for.yaml")
    for path in to.rglob("*"):  # all of one time: nothing has changed since it was measured
        os.utime(path, (_NEVER_NEWER_S, _NEVER_NEWER_S), follow_symlinks=False)
    targets = [name for name, standing in _STUDIES.items() if (results / standing).exists()]
    command = [
        *(sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "asked_for.yaml"),
        *("--rerun-triggers", "mtime", "--", "results/report/report.qmd", *targets),
    ]
    done = subprocess.run(command, cwd=to, env=_environment(), capture_output=True, text=True)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
        raise ValueError(f"the records cannot be made into a report without measuring:\n{said}")
    return made


def _environment() -> dict[str, str]:
    own = ("PYTHONPATH", "SNAKEMAKE_PROFILE")
    return {name: value for name, value in os.environ.items() if name not in own}


def differences(results: Path, again: Path) -> Iterator[str]:
    """Yield a line for each value of a derived file that is another in the one made again."""
    standing, made = _derived(results), _derived(again)
    for name in sorted(standing | made):
        if name not in made:
            yield f"{name}: does not follow from the records and their configuration"
        elif name not in standing:
            yield f"{name}: is not there, though the records give it"
        else:
            yield from _compared(name, results / name, again / name)


def _derived(results: Path) -> set[str]:
    """Return the names of the files of numbers and of text that were made of others."""
    no_part = tuple(f"{name}/" for name in (*_SOURCES, *_NO_RESULTS, _TYPESET))
    names = (
        path.relative_to(results).as_posix()
        for path in results.rglob("*")
        if path.suffix in (".csv", ".json", ".qmd")
    )
    return {name for name in names if not f"{name}/".startswith(no_part)}


def _compared(name: str, standing: Path, made: Path) -> Iterator[str]:
    texts = [path.read_text(encoding="utf-8") for path in (standing, made)]
    if texts[0] == texts[1]:
        return
    places = {".json": in_json, ".csv": in_table}.get(standing.suffix, _in_lines)
    try:
        one, other = (places(text) for text in texts)
    except ValueError as error:  # whatever it is, it is not what stands there otherwise
        yield f"{name}: cannot be read: {error}"
        return
    n_found = 0
    for place in one | other:
        said, again = (found.get(place, "nothing") for found in (one, other))
        if said != again:
            n_found += 1
            yield f"{name}: {place} is {said}, made again {again}"
    if not n_found:
        yield f"{name}: is written in another way"


def in_json(text: str) -> dict[str, str]:
    """Return the leaves of a JSON text by their paths."""

    def leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401
        if isinstance(value, dict | list):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            for key, part in inner:
                yield from leaves(part, f"{path}.{key}" if path else str(key))
        else:
            yield path, json.dumps(value)

    return dict(leaves(json.loads(text), ""))


def in_table(text: str) -> dict[str, str]:
    """Return the values of a table by line and column."""
    lines = list(csv.reader(text.splitlines()))
    return {
        f"line {number}, {column}": value
        for number, row in enumerate(lines[1:], start=2)
        for column, value in itertools.zip_longest(lines[0], row, fillvalue="")
    }


def _in_lines(text: str) -> dict[str, str]:
    return {f"line {number}": line for number, line in enumerate(text.splitlines(), start=1)}
