"""The workflow as Snakemake's own linter sees it."""

from pathlib import Path

import pytest
from workflow.support import ROOT, new_checkout

# Lints that do not apply, each with the reason.
ALLOWED = {
    # One locked environment (envs/) serves all rules, and measuring needs the host's own perf, ip
    # and compiler: a container would measure with other tools than the host's.
    "Specify a conda environment or container for each rule.",
}


def test_the_linter_finds_nothing_but_what_is_allowed(tmp_path: Path) -> None:
    checkout = new_checkout(tmp_path / "checkout")
    done = checkout.snakemake("--lint", check=False)
    found = {line.strip(" *") for line in done.stderr.splitlines() if line.startswith("    * ")}
    assert found == {f"{lint}:" for lint in ALLOWED}, done.stderr


@pytest.mark.parametrize(
    "path", sorted((ROOT / "workflow" / "rules").glob("*.smk")), ids=lambda path: path.stem
)
def test_every_rule_that_runs_has_a_log(path: Path) -> None:
    for block in path.read_text(encoding="utf-8").split("\nrule ")[1:]:
        name = block.partition(":")[0]
        assert "script:" not in block or "log:" in block, name
