"""Commands that need no workflow: ``python -m copycost audit FILE.csv``, ``compare``, ``plan``."""

import argparse
import os
import sys
from collections.abc import Sequence

from copycost.audit import command as audit
from copycost.between_runs import command as compare
from copycost.build.checkout import version
from copycost.errors import CopycostError
from copycost.fleet import audit_command as audit_of_any
from copycost.fleet import export_command as export
from copycost.fleet import merge_command as merge
from copycost.report import decisions_command as answer
from copycost.studies import planning as plan

_COMMANDS = {
    "answer": answer.run,
    "audit": audit_of_any.run,
    "compare": compare.run,
    "export": export.run,
    "merge": merge.run,
    "plan": plan.run,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="copycost", description="Judge, and use, measurements of what each copy costs."
    )
    parser.add_argument("--version", action="version", version=f"copycost {version()}")
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
    compare.add_arguments(
        commands.add_parser(
            "compare",
            help="compare two runs, or several of either side",
            description=compare.DESCRIPTION,
            epilog=compare.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    export.add_arguments(
        commands.add_parser(
            "export",
            help="hand this host's results on to others",
            description=export.DESCRIPTION,
        )
    )
    merge.add_arguments(
        commands.add_parser(
            "merge",
            help="add the results of other hosts, for one report over all",
            description=merge.DESCRIPTION,
            epilog=merge.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    plan.add_arguments(
        commands.add_parser(
            "plan",
            help="say how much CPU a bitrate takes on this host",
            description="Say how many CPUs of sender and receiver a bitrate takes on this host, "
            "with every way and testbed measured: from what a byte cost at full speed, or, where "
            "./run cpu_budget measured the bitrate itself, from that.",
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
    try:
        code = _COMMANDS[options.command](options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read it has seen enough (`| head`); Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (CopycostError, OSError) as error:
        print(f"copycost: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
