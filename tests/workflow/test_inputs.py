"""Whatever a script reads of the checkout is an input of its rule: seen while they run.

What its imports read is in tests/unit/snakefile/test_dependencies.py.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest
from workflow.support import Checkout, new_checkout

from copycost.snakefile.console_summary import MEASURING_RULES
from copycost.snakefile.dependencies import code_of

pytestmark = pytest.mark.slow

# Python runs this before a script, and has it told of every file that is opened.
NOTE_WHAT_IS_OPENED = """
import atexit, json, os, sys

opened = set()

def note(event, args):
    if event == "open" and isinstance(args[0], str):
        opened.add(os.path.abspath(args[0]))

def tell():
    with open(os.path.join(os.environ["NOTES"], f"{os.getpid()}.json"), "w") as file:
        json.dump({"program": sys.argv[0], "opened": sorted(opened)}, file)

def forget_code():  # of other scripts, in a fork of the process that all are forked from
    opened.difference_update([name for name in opened if "/workflow/" in name])

os.register_at_fork(after_in_child=forget_code)
sys.addaudithook(note)
atexit.register(tell)
"""

# Of the checkout; what lies in results is made by rules, which Snakemake itself follows.
SOURCES = ("workflow", "report", "data", "src", "config", "envs")


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, Path]:
    """A checkout in which nearly every rule was run, and the notes on what scripts opened."""
    folder = tmp_path_factory.mktemp("inputs")
    checkout = new_checkout(folder / "checkout")
    checkout.configure("streams", msg_bytes=["64KiB"])
    checkout.configure("round_trips", implementations=["one_copy"], testbeds=["loopback"])
    checkout.configure("measure", repetitions=1, memory_floor=True)
    profile = {"implementations": ["one_copy"], "testbeds": ["loopback"], "msg_bytes": [16384]}
    checkout.configure("profile", enabled=True, repetitions=1, differences=[], **profile)
    for name in ("notes", "site"):
        (folder / name).mkdir()
    (folder / "site" / "sitecustomize.py").write_text(NOTE_WHAT_IS_OPENED)
    (checkout.path / "own.csv").write_text("impl,size,threads,gbps\nA1,4096,1,10\nA2,4096,1,11\n")
    command = checkout.command("--cores", "2", "all", "audit", "--config", "dataset=own.csv")
    checkout.call(command, PYTHONPATH=str(folder / "site"), NOTES=str(folder / "notes"))
    return checkout, folder / "notes"


def opened_by_scripts(checkout: Checkout, notes: Path) -> dict[str, set[str]]:
    """Return the sources that each script opened, relative to the checkout."""
    found: dict[str, set[str]] = defaultdict(set)
    for note in notes.iterdir():
        told = json.loads(note.read_text())
        program = Path(told["program"])
        if program.parent.name != "scripts":
            continue  # Snakemake itself, or a program that a script started
        script = program.name.partition(".")[2]  # after a random word of Snakemake's
        found[script] |= set()
        for path in map(Path, told["opened"]):
            if not path.is_relative_to(checkout.path):
                continue
            source = path
            if path.parent.name == "__pycache__":
                source = path.parent.parent / f"{path.name.split('.')[0]}.py"
            name = source.relative_to(checkout.path)
            if name.parts[0] in SOURCES and source.is_file():
                found[script].add(str(name))
    return found


def stated_inputs(checkout: Checkout) -> dict[str, set[str]]:
    """Return the inputs of the jobs that run each script, but for those that measure."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (checkout.path / ".snakemake" / "metadata").rglob("*"):
        if path.is_file():
            noted = json.loads(path.read_text())
            scripts = [name for name in noted["input"] if name.startswith("workflow/scripts/")]
            if scripts and noted["rule"] not in MEASURING_RULES:
                (script,) = scripts
                inputs = [*noted["input"], *code_of(checkout.path, script)]
                found[Path(script).name] |= {os.path.normpath(name) for name in inputs}
    return found


def test_whatever_a_script_opens_is_an_input_of_its_rule(notes: tuple[Checkout, Path]) -> None:
    opened, stated = opened_by_scripts(*notes), stated_inputs(notes[0])
    assert len(stated) >= 15
    assert stated.keys() <= opened.keys()
    missing = {script: opened[script] - inputs for script, inputs in stated.items()}
    assert {script: sorted(names) for script, names in missing.items() if names} == {}
