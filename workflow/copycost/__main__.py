"""Commands that need no workflow: ``python -m copycost audit FILE.csv``, ``compare``, ``plan``."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from copycost.config.checkout import version
from copycost.errors import CopycostError


class Command(Protocol):
    """What the module of a command has; its texts are printed line by line as they stand."""

    HELP: str
    DESCRIPTION: str
    EPILOG: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments of the command."""

    def run(self, options: argparse.Namespace) -> int:
        """Do what the command says; return the exit code."""


# The module of each; only that of the command that was given is loaded.
_COMMANDS = {
    "audit": "compare.audit.command",
    "compare": "compare.runs.command",
    "export": "compare.hosts.export_command",
    "merge": "compare.hosts.merge_command",
    "plan": "studies.capacity_command",
    "answer": "report.decisions_command",
}


def _load(name: str) -> Command:
    return cast("Command", import_module(f"copycost.{_COMMANDS[name]}"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="copycost", description="Judge, and use, measurements of what each copy costs."
    )
    parser.add_argument("--version", action="version", version=f"copycost {version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    words = sys.argv[1:] if arguments is None else arguments
    for name in _COMMANDS.keys() & words[:1] or _COMMANDS:  # all of them in its own help
        command = _load(name)
        one = commands.add_parser(
            name,
            help=command.HELP,
            description=command.DESCRIPTION,
            epilog=command.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(one)
    options = parser.parse_args(words)
    try:
        code = _load(options.command).run(options)
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
