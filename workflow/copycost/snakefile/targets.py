"""What can be asked for by name on the command line."""

from copycost.wording.spelling import did_you_mean

# Rules that make single files may be asked for too, but nobody has to know those.
TARGETS = ("measure", "tables", "figures", "report", "profile", "cpu_budget", "datagrams",
           "simulated", "compare", "audit", "fleet")  # fmt: skip
# What ./run takes for itself; misspelt, it reaches Snakemake as a target.
COMMANDS = ("setup", "test", "doctor", "config", "answer", "plan", "compare", "audit", "export",
            "merge", "fetch", "fleet", "help")  # fmt: skip


def unknown_target(target: str) -> str:
    """Return a sentence about a target that there is not, with what may have been meant."""
    return (
        f"{target}: there is no such target; targets are {', '.join(TARGETS)}, and files that a "
        f"run makes; ./run help shows the commands{did_you_mean(target, [*TARGETS, *COMMANDS])}"
    )
