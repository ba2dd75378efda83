"""What can be asked for by name on the command line."""

import re

from copycost.wording.spelling import did_you_mean

# Rules that make single files may be asked for too, but nobody has to know those.
TARGETS = (
    "measure",
    "tables",
    "figures",
    "report",
    "profile",
    "cpu_budget",
    "datagrams",
    "compare",
    "audit",
)
# What ./run takes for itself; misspelt, it reaches Snakemake as a target.
COMMANDS = ("test", "doctor", "bench", "answer", "plan", "more", "retry-failed", "lock", "help")

# What Snakemake says of a target that it does not know.
_NO_RULE = re.compile(
    r"(?:MissingRuleException:\n)?No rule to produce (?P<target>.+) \(if you use "
)


def reworded(message: str) -> str:
    """Return a message of Snakemake's: of an unknown target in words that help, else as it is."""
    found = _NO_RULE.match(message)
    if found is None:
        return message
    target = found["target"]
    return (
        f"copycost: {target}: there is no such target; targets are {', '.join(TARGETS)}, and files "
        "that a run makes; ./run help shows the commands"
        f"{did_you_mean(target, [*TARGETS, *COMMANDS])}"
    )
