from types import SimpleNamespace

import pytest

from copycost.checkout import ROOT
from copycost.config.sources import DEFAULTS, USER_FILE
from copycost.snakefile.startup import checked_config

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


@pytest.mark.parametrize("first", [True, False])
def test_everything_that_is_wrong_is_said_in_lines_without_a_traceback(first: bool) -> None:
    with pytest.raises(SystemExit) as ended:
        checked_config(workflow(first=first, duration_s=-1, repetitions=0))
    lines = str(ended.value.code).splitlines()
    assert any("measure.duration_s: got -1" in line for line in lines)
    assert any("measure.repetitions: got 0" in line for line in lines)
