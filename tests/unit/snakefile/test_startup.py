import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from copycost.config.checkout import ROOT
from copycost.config.sources import DEFAULTS, USER_FILE
from copycost.snakefile.startup import checked_config

HEAVY = {"matplotlib", "numpy", "pandas", "scipy", "seaborn"}


def modules_after(code: str) -> set[str]:
    """Return what is imported once some code has run."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        cwd=ROOT / "workflow",
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_what_every_start_imports_is_light() -> None:
    rules = [ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in rules)
    imports = re.findall(r"^(?:from copycost\S* )?import (?:\([^)]*\)|.*$)", text, re.MULTILINE)
    assert len(imports) > 10
    assert HEAVY.isdisjoint(modules_after("\n".join(imports)))


def test_commands_that_answer_are_light() -> None:
    for name in ("report.decisions_command", "studies.capacity_command"):
        assert HEAVY.isdisjoint(modules_after(f"import copycost.{name}")), name


def test_the_measuring_process_does_not_wait_for_what_only_a_check_needs() -> None:
    loaded = modules_after("import copycost.measure.repetition")
    assert loaded.isdisjoint({"cattrs", "attrs", "jsonschema", "yaml", "pandas"})


FAR_CPU = 9_999


def workflow(*, first: bool, **measure: object) -> SimpleNamespace:
    """Return what is asked of Snakemake, in the process that the user started or in a job's."""
    return SimpleNamespace(
        basedir=str(ROOT),
        configfiles=[ROOT / DEFAULTS, ROOT / USER_FILE],
        config_settings=SimpleNamespace(configfiles=(), config={"measure": measure}),
        is_main_process=first,
    )


def test_a_configuration_that_does_not_suit_this_host_ends_the_run_but_no_job() -> None:
    cpus = {"sender": [FAR_CPU]}
    with pytest.raises(SystemExit, match=str(FAR_CPU)):
        checked_config(workflow(first=True, cpus=cpus))
    checked = checked_config(workflow(first=False, cpus=cpus))
    assert checked.as_dict()["measure"]["cpus"]["sender"] == [FAR_CPU]
