"""What becomes of what Snakemake says."""

import pytest

from copycost.snakefile.messages import reworded

# As Snakemake 9.27 says it.
UNKNOWN = (
    "MissingRuleException:\nNo rule to produce {} (if you use input functions make sure that they "
    "don't raise unexpected exceptions)."
)


@pytest.mark.parametrize(("target", "meant"), [("tabels", "tables"), ("doctr", "doctor")])
def test_a_misspelt_target_or_command_is_named_with_what_was_meant(target: str, meant: str) -> None:
    said = str(reworded(UNKNOWN.format(target), quiet=True))
    assert said.startswith(f"copycost: {target}: there is no such target; targets are measure, ")
    assert said.endswith(f"; did you mean {meant}?")
    assert "\n" not in said


@pytest.mark.parametrize(
    "message",
    [
        "Building DAG of jobs...",
        "Some jobs were triggered by provenance information, see ... wipe its metadata",
        "This was a dry-run (flag -n). The order of jobs does not reflect ...",
    ],
)
def test_what_is_snakemakes_own_is_said_where_it_was_asked_for_only(message: str) -> None:
    assert reworded(message, quiet=True) is None
    assert reworded(message, quiet=False) == message


def test_of_a_script_that_ctrl_c_ended_nothing_is_said() -> None:
    assert reworded("copycost: run_cell failed (exit status 130)", quiet=True) is None
    message = "copycost: run_cell failed (exit status 1)"
    assert reworded(message, quiet=True) == message
