"""Commands that need no workflow: ``python -m copycost audit FILE.csv``, ``plan --gbps 10``."""

import argparse
import sys
from collections.abc import Sequence

from copycost.audit import command as audit
from copycost.errors import CopycostError
from copycost.report import decisions_command as answer
from copycost.studies.cpu_budget import command as plan


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="copycost", description="Judge, and use, measurements of what each copy costs."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    audit.add_arguments(
        commands.add_parser(
            "audit",
            help="judge a table of measurements that somebody else made",
            description="Read a table of measurements, whoever made it: run the analysis of our "
            "own reports on it, check whether the numbers can be measurements, and test what is "
            "claimed of them. See docs/audit.md.",
        )
    )
    plan.add_arguments(
        commands.add_parser(
            "plan",
            help="say how much CPU a bitrate takes on this host",
            description="Say how much CPU of sender and receiver a TCP bitrate takes on this host, "
            "from what ./run cpu_budget has measured.",
            epilog="Exit status: 0 answered, 1 beyond what was measured, or nothing was.",
        )
    )
    answer.add_arguments(
        commands.add_parser(
            "answer",
            help="say which way to send is the fastest and which the cheapest",
            description="Print the decision tables of the report's first page, or their rows for "
            "one size, from what was measured.",
            epilog="Exit status: 0 answered, 1 nothing was measured.",
        )
    )
    options = parser.parse_args(arguments)
    run = {"audit": audit.run, "plan": plan.run, "answer": answer.run}
    try:
        return run[options.command](options)
    except (CopycostError, OSError) as error:
        print(f"copycost: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
