"""What Snakemake says of its own work, in words that help, or not at all."""

import re

from copycost.snakefile.interruption import EXIT_CODE
from copycost.wording.words import did_you_mean

# What it says for every single job, even when told to be quiet about jobs.
_CHATTER = ("Select jobs to execute", "Execute ", "Using shell", "Assuming unrestricted")
# What a user who has not asked for it can do nothing with. What is done, why and how long it takes
# the announcements say.
_INSIDE = (
    "Building DAG of jobs",
    "DAG of jobs will be updated",
    "Updating checkpoint dependencies",
    "Reasons:",
    "Some jobs were triggered by provenance",
    "Rules with provenance",
    "This was a dry-run",
    "The run involves checkpoint jobs",
    "Shutting down, this might take",
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete successfully.",
    "Complete log(s)",
    "Config file ",
    "Elapsed time",
)
_METADATA = re.compile(r"\d+ jobs have (?:missing|outdated) provenance")
# What Snakemake says of a target that it does not know.
_NO_RULE = re.compile(
    r"(?:MissingRuleException:\n)?No rule to produce (?P<target>.+) \(if you use "
)

PLANNING = "Building DAG of jobs"
NOTHING = "Nothing to be done"


def reworded(message: str, *, quiet: bool) -> str | None:
    """Return what shall be said instead of a message of Snakemake's, None where nothing shall.

    With `quiet`, it shall not speak of its jobs.
    """
    if message.startswith(NOTHING):
        return "copycost: nothing to be done: everything asked for is there."
    if message.startswith(_CHATTER) or (quiet and message.startswith(_INSIDE)):
        return None
    if quiet and _METADATA.match(message):
        return None
    if found := _NO_RULE.match(message):
        return f"copycost: {unknown_target(found['target'])}"
    # Ctrl-C may end a script before it reaches this process, which then says so
    return None if message.endswith(f" failed (exit status {EXIT_CODE})") else message


# Rules that make single files may be asked for too, but nobody has to know those.
STUDIES = ("profile", "cpu_budget", "datagrams", "simulated")
"""Those with a chapter of the report to themselves, in its order."""
TARGETS = ("measure", "tables", "figures", "report", *STUDIES, "audit", "fleet")
# What ./run takes for itself; misspelt, it reaches Snakemake as a target.
COMMANDS = ("setup", "test", "doctor", "config", "answer", "plan", "compare", "audit", "export",
            "merge", "fetch", "fleet", "help")  # fmt: skip


def unknown_target(target: str) -> str:
    """Return a sentence about a target that there is not, with what may have been meant."""
    return (
        f"{target}: there is no such target; targets are {', '.join(TARGETS)}, and files that a "
        f"run makes; ./run help shows the commands{did_you_mean(target, [*TARGETS, *COMMANDS])}"
    )
