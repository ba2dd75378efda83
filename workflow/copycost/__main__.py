"""Commands that need no workflow: ``python -m copycost audit FILE.csv``, ``compare``, ``plan``."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Protocol

from copycost.between_runs import command as compare
from copycost.build.checkout import version
from copycost.errors import CopycostError
from copycost.fleet import audit_command as audit
from copycost.fleet import export_command as export
from copycost.fleet import merge_command as merge
from copycost.report import decisions_command as answer
from copycost.studies import planning as plan


class Command(Protocol):
    """What the module of a command has; its texts are printed line by line as they stand."""

    HELP: str
    DESCRIPTION: str
    EPILOG: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments of the command."""

    def run(self, options: argparse.Namespace) -> int:
        """Do what the command says; return the exit code."""


_COMMANDS: dict[str, Command] = {
    "audit": audit,
    "compare": compare,
    "export": export,
    "merge": merge,
    "plan": plan,
    "answer": answer,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="copycost", description="Judge, and use, measurements of what each copy costs."
    )
    parser.add_argument("--version", action="version", version=f"copycost {version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        one = commands.add_parser(
            name,
            help=command.HELP,
            description=command.DESCRIPTION,
            epilog=command.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(one)
    options = parser.parse_args(arguments)
    try:
        code = _COMMANDS[options.command].run(options)
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
