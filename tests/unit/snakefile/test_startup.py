"""What each start of Snakemake loads, checks and decides."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from configured import configured

from copycost.config.checkout import ROOT
from copycost.config.config import Config
from copycost.config.simulated import Simulated
from copycost.config.sources import DEFAULTS, USER_FILE
from copycost.errors import Unavailable
from copycost.report.write import CHAPTERS as OF_THE_REPORT
from copycost.snakefile import chapters
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


def imports_of_every_start() -> str:
    rules = [ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in rules)
    imports = re.findall(r"^(?:from copycost\S* )?import (?:\([^)]*\)|.*$)", text, re.MULTILINE)
    assert len(imports) > 10
    return "\n".join(imports)


@pytest.mark.parametrize(
    ("code", "too_heavy"),
    [
        (imports_of_every_start(), HEAVY),
        ("import copycost.report.decisions_command", HEAVY),
        ("import copycost.studies.capacity_command", HEAVY),
        # what only a check needs
        ("import copycost.measure.repetition", {"attrs", "cattrs", "jsonschema", "pandas", "yaml"}),
    ],
)
def test_nobody_waits_for_what_is_not_needed(code: str, too_heavy: set[str]) -> None:
    assert modules_after(code).isdisjoint(too_heavy)


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


NONE = dict.fromkeys(OF_THE_REPORT, False)


def config_with(**enabled: bool | str) -> Config:
    return configured(**{study: {"enabled": value} for study, value in enabled.items()})


def names(config: Config) -> list[str]:
    return [chapter.name for chapter in chapters.enabled_chapters(config)]


def test_the_report_has_a_chapter_for_what_the_configuration_enables() -> None:
    assert names(config_with(**NONE)) == []
    assert names(config_with(**NONE | {"datagrams": True})) == ["datagrams"]
    assert names(config_with(**dict.fromkeys(NONE, True))) == list(OF_THE_REPORT)
    auto = config_with(**NONE | {"simulated": "auto"})
    assert names(auto) == ["simulated"]
    assert chapters.enabled_chapters(auto, without=("simulated",)) == []


def test_what_is_left_to_us_is_decided_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chapters.why_not_simulated(config_with(simulated=False)) is None

    def refuse(section: Simulated) -> None:
        raise Unavailable(f"{section.enabled} it is", "change that")

    monkeypatch.setattr(chapters, "require_wanted", refuse)
    assert chapters.why_not_simulated(config_with(simulated="auto")) == "auto it is (change that)"
