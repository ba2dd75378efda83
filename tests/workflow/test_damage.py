"""What is damaged costs itself alone: every run ends with its report, and makes it again."""

import hashlib
import json
import sys
from pathlib import Path

import pytest
from workflow.support import Checkout

from copycost.records.record import read_record

pytestmark = pytest.mark.slow

ALL = 8


def paths_of(checkout: Checkout) -> list[Path]:
    return sorted((checkout.path / "results" / "raw").rglob("rep=*.json"))


def sign(path: Path, old: str, new: str) -> None:
    """Change a record as its writer would have written it."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    body = text.replace(old, new, 1).partition(',\n "digest"')[0]
    digest = hashlib.sha256(body.encode()).hexdigest()
    path.write_text(f'{body},\n "digest": "{digest}"\n}}\n', encoding="utf-8")


def failed(checkout: Checkout) -> str:
    """Return what ./run would say has failed."""
    ask = "from copycost.snakefile.retry import failures; print(failures())"
    return checkout.call([sys.executable, "-c", ask], PYTHONPATH="workflow").stdout.strip()


def assert_whole(checkout: Checkout) -> None:
    results = checkout.path / "results"
    assert [read_record(path)["status"] for path in paths_of(checkout)] == ["measured"] * ALL
    assert json.loads((results / "memory.json").read_text())["status"] == "measured"
    assert (results / "report" / "report.html").stat().st_size > 10_000
    assert failed(checkout) == ""


@pytest.fixture
def checkout(finished: Checkout) -> Checkout:
    """A finished run, of which the memory floor is wanted too, and a report of one format."""
    finished.configure("measure", memory_floor=True)
    finished.configure("report", formats=["html"])
    return finished


def test_what_is_damaged_before_a_run_is_set_aside_and_measured_again(checkout: Checkout) -> None:
    results = checkout.path / "results"
    cut, edited, foreign, old, moved, elsewhere, *_ = paths_of(checkout)
    digest = json.loads(elsewhere.read_text())["host_digest"]
    cut.write_bytes(cut.read_bytes()[:500])
    edited.write_text(edited.read_text().replace('"measured"', '"failed"', 1))
    foreign.write_bytes(b"\x89PNG\r\n")
    sign(old, '"schema_version": 5', '"schema_version": 4')
    moved.write_bytes(paths_of(checkout)[-1].read_bytes())
    sign(elsewhere, digest, "e" * 64)
    (results / "memory.json").write_text("{}")
    (results / "config.yaml").write_text("streams: [")
    (results / "raw/streams/notes.txt").write_text("mine")
    looked = checkout.dry().stderr
    assert "8 files in results cannot be used; they would be kept in results/aside" in looked
    assert not (results / "aside").exists()
    done = checkout.snakemake("--cores", "1")
    assert "8 files in results cannot be used; they are kept in results/aside" in done.stderr
    assert "notes.txt: not a record of copycost; ignored" in done.stdout + done.stderr
    assert "4 KiB x 1 thread, repetition 1: " in done.stderr
    assert_whole(checkout)
    notes = (results / "aside" / "README").read_text().splitlines()
    report = (results / "report" / "report.qmd").read_text()
    assert "8 files of `results` could not be used" in report
    for path in (cut, edited, foreign, old, moved, elsewhere):
        inner = path.relative_to(results)
        assert f"`{inner}`" in report
        assert (results / "aside" / inner).is_file()
        assert len([line for line in notes if f" {inner}: " in line]) == 1
    assert checkout.planned() == {}


DAMAGE = """
from pathlib import Path
note = Path("damaged-" + Path("{path}").stem)
if not note.exists():
    note.touch()
    Path("{path}").write_bytes(b"{{")
"""


def damage(checkout: Checkout, script: str, path: Path) -> None:
    """Have a script destroy a file before it reads it, the first time."""
    code = checkout.path / "workflow" / "scripts" / f"{script}.py"
    code.write_text(DAMAGE.format(path=path) + code.read_text())


def test_what_is_damaged_during_a_run_is_named_and_made_again_by_the_next(
    checkout: Checkout,
) -> None:
    lost = paths_of(checkout)[0].relative_to(checkout.path)
    damaged = {"collect_results": lost, "compute_facts": Path("results/memory.json")}
    for script, path in damaged.items():
        damage(checkout, script, path)
    launch = [sys.executable, "-SP", "workflow/copycost/cli/launch.py", "snakemake", "--cores", "1"]
    done = checkout.call(launch, check=False)  # as ./run does
    assert done.returncode == 3
    assert "its record could not be used: " in done.stdout
    assert "failed: 2 repetitions; the report says which and why" in done.stderr
    for path in damaged.values():
        record = json.loads((checkout.path / path).read_text())
        assert record["status"] == "failed"
        assert record["reason"].startswith("its record could not be used: ")
        assert (checkout.path / "results" / "aside" / path.relative_to("results")).is_file()
    report = (checkout.path / "results" / "report" / "report.html").read_text()
    assert "its record could not be used" in report
    assert "Set aside" in report
    assert checkout.planned() == {}, "as it is all was made"
    assert failed(checkout) == "2 repetitions"

    table = Path("results/tables/ratios.csv")
    damage(checkout, "compute_facts", table)
    done = checkout.snakemake("--cores", "1", check=False)
    assert done.returncode == 1
    assert f"{table}: a step could not read it, so it lies in results/aside" in done.stderr
    checkout.snakemake("--cores", "1")
    assert_whole(checkout)
    assert "a step could not read it" in (checkout.path / "results/report/report.qmd").read_text()
