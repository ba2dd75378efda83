"""What is changed within Snakemake: its scripts run elsewhere only where that is the same."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import snakemake.cli
from snakemake import common, rules
from snakemake.persistence import PersistenceBase
from snakemake.persistence.file import FilePersistence
from snakemake.script import PythonScript
from snakemake_interface_common import plugin_registry
from snakemake_interface_report_plugins.registry import ReportPluginRegistry

from copycost.config.checkout import ROOT
from copycost.errors import CopycostError
from copycost.snakefile.internals import run_scripts_with, start_quickly
from copycost.snakefile.messages import reworded

SCRIPT = ".snakemake/scripts/tmpx7.draw.py"
PLAIN = dict.fromkeys(("container_img", "conda_env", "env_modules", "bench_record"))


def test_a_script_is_started_as_usual_only_where_nobody_else_could_begin_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[str] = []
    given: list[str] = []

    def execute(status: int | None, **changes: str) -> None:
        monkeypatch.setattr(
            PythonScript, "execute_script", lambda _, path, __: started.append(path)
        )
        run_scripts_with(lambda path: given.append(path) or status)
        PythonScript.execute_script(SimpleNamespace(**PLAIN | changes), SCRIPT)

    execute(0)
    with pytest.raises(CopycostError, match=r"^draw failed \(exit status 3\)$"):
        execute(3)
    assert (given, started) == ([SCRIPT] * 2, [])
    execute(None)
    for name in PLAIN:  # an environment of its own
        execute(0, **{name: "x"})
    assert (given, started) == ([SCRIPT] * 3, [SCRIPT] * (1 + len(PLAIN)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--latency-wait", "x"],
            "run: argument --latency-wait/--output-wait/-w: invalid int value",
        ),
        (["--set-scatter", "a=x"], "run: Invalid scatter definition: "),
        (["tabels"], "copycost: tabels: there is no such target; targets are measure, "),
    ],
)
def test_what_only_snakemake_can_refuse_is_one_sentence(words: list[str], said: str) -> None:
    launch = ROOT / "workflow/copycost/cli/launch.py"
    command = [sys.executable, "-SP", str(launch), "snakemake", "--cores", "1", "-n", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert (done.stdout + done.stderr).startswith(said)
    assert "Traceback" not in done.stdout + done.stderr


def test_of_what_snakemake_says_of_itself_only_what_was_asked_for_is_said() -> None:
    message = "Building DAG of jobs..."
    assert (reworded(message, quiet=True), reworded(message, quiet=False)) == (None, message)
    failed, interrupted = (f"copycost: run_cell failed (exit status {n})" for n in (1, 130))
    assert (reworded(failed, quiet=True), reworded(interrupted, quiet=True)) == (failed, None)


SPARED = (
    (snakemake.dag.ScriptProcessor, "process_job"),
    (FilePersistence, "_read_record_cached"),
    (plugin_registry, "pkgutil"),
    (common, "get_function_params"),
    (rules, "get_function_params"),
    (PersistenceBase, "_serialize_param_pandas"),
    (ReportPluginRegistry, "collect_plugins"),
)


def test_what_snakemake_is_spared_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in SPARED:
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back behind this test

    kept = FilePersistence.__new__(FilePersistence)

    def answers() -> list[Any]:
        functions = (lambda wildcards: 1, lambda wildcards, input: 2, "a".replace)
        params = (None, 1.5, "a", ["b", 2], {"c": (3,)}, object())
        return [
            *(list(rules.get_function_params(function)) for function in functions),
            *(kept._serialize_param_pandas(one) for one in params),
        ]

    before = answers()
    start_quickly(["--cores", "1"])
    assert answers() == before
