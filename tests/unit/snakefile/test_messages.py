"""What becomes of what Snakemake says."""

import pytest

from copycost.snakefile.messages import reworded

# As Snakemake 9.27 says it.
UNKNOWN = (
    "MissingRuleException:\nNo rule to produce {} (if you use input functions make sure that they "
    "don't raise unexpected exceptions)."
)


def said_of(message: str) -> str:
    said = reworded(message, quiet=True)
    assert said is not None
    return said


@pytest.mark.parametrize(
    ("target", "meant"), [("tabels", "tables"), ("figure", "figures"), ("doctr", "doctor")]
)
def test_a_misspelt_target_or_command_is_named_with_what_was_meant(target: str, meant: str) -> None:
    said = said_of(UNKNOWN.format(target))
    assert said.startswith(f"copycost: {target}: there is no such target; targets are measure, ")
    assert said.endswith(f"; did you mean {meant}?")
    assert "\n" not in said


@pytest.mark.parametrize(
    "message",
    [
        "Building DAG of jobs...",
        "Reasons:\n    (check individual jobs above for details)",
        "Some jobs were triggered by provenance information, see ... wipe its metadata",
        "This was a dry-run (flag -n). The order of jobs does not reflect ...",
    ],
)
def test_what_is_snakemakes_own_is_said_where_it_was_asked_for_only(message: str) -> None:
    assert reworded(message, quiet=True) is None
    assert reworded(message, quiet=False) == message


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("returned non-zero exit status 1.", "copycost: collect_results failed (exit status 1)"),
        ("died with <Signals.SIGKILL: 9>.",
         "copycost: collect_results failed (killed by <Signals.SIGKILL: 9>)"),
        ("returned non-zero exit status 130.", None),  # Ctrl-C, which is told by itself
    ],
)  # fmt: skip
def test_of_a_script_that_failed_only_that_is_said(end: str, said: str | None) -> None:
    message = (
        'RuleException:\nCalledProcessError in file "/a b/workflow/rules/tables.smk", line 20:\n'
        f"Command '/a b/python /a b/.snakemake/scripts/tmp3j.collect_results.py' {end}\n"
        '  File "/a b/workflow/copycost/snakefile/internals.py", line 112, in execute_script'
    )
    assert reworded(message, quiet=True) == said
    assert reworded(message, quiet=False) == message
