"""One logging set-up for all workflow scripts."""

import logging
import sys
from pathlib import Path
from types import TracebackType

from copycost.errors import CopycostError


def log_to_file(path: str | Path) -> None:
    """Send log lines and tracebacks to `path`, and one clear sentence per known error to stderr.

    Snakemake shows a script's stderr to the user and keeps the log for later; a traceback helps
    nobody whose disk is full, yet is needed when the error is ours.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=path,
        filemode="w",
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        force=True,
    )
    logging.raiseExceptions = False  # a line that found no room is no news

    def report(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        logging.getLogger("copycost").error("stopped", exc_info=(kind, error, trace))
        if isinstance(error, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt):
            return  # who pressed Ctrl-C knows
        if issubclass(kind, (CopycostError, OSError)):
            print(f"copycost: {error}", file=sys.stderr)
        else:
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = report
