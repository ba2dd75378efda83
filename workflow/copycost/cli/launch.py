"""Runs a module so that Ctrl-C never shows a traceback: ``python -SP launch.py MODULE [WORD...]``.

The module ``door`` stands for ``./run``, which may hand over to another one.

Without -S, Python would import `site` before the first line here is reached.
"""

# Until the line below is installed, Ctrl-C ends the process without a word. `signal` itself would
# import for milliseconds.
from _signal import (  # type: ignore[import-not-found]
    SIG_DFL,
    SIG_UNBLOCK,
    SIGINT,
    pthread_sigmask,
    signal,
)

signal(SIGINT, SIG_DFL)
pthread_sigmask(SIG_UNBLOCK, {SIGINT})  # held back by who started this one

import atexit  # noqa: E402
import runpy  # noqa: E402
import site  # noqa: E402
import sys  # noqa: E402
from contextlib import ExitStack  # noqa: E402
from pathlib import Path  # noqa: E402

# The package, and the tools beside it in the folder of the checkout.
sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[3])]

from copycost.records.disk import AGAIN  # noqa: E402
from copycost.snakefile import interruption  # noqa: E402

# What is said at the end comes before: it is registered later.
LAST = ExitStack()
atexit.register(LAST.close)


def main() -> None:
    """Run the module that the first argument names as the main program."""
    name = sys.argv.pop(1)
    if name == "door":
        from copycost.cli.environment import INTERRUPTED
        from copycost.cli.main import door

        interruption.end_quietly(line=INTERRUPTED)
        name, *sys.argv[1:] = door(sys.argv[1:])
    if name == "snakemake":
        interruption.end_quietly(line=interruption.LINE, exit_code=interruption.SAID)
    else:
        interruption.end_quietly()
    site.main()
    if name == "snakemake":
        from copycost.snakefile import internals  # after `site`

        internals.start_quickly(sys.argv)
        internals.shorten_command_line()
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code and name == "snakemake" and internals.met_full_disk:
            raise SystemExit(AGAIN) from end
        if not end.code and name == "snakemake" and internals.is_done:
            say_what_failed()
        raise
    finally:
        if interruption.happened:
            # what ran at that moment may have swallowed the end, or made an error of it
            interruption.end()


def say_what_failed() -> None:
    """Say it behind all else that is said at the end, and end with a status that tells."""
    from copycost.cli.environment import EXIT_FAILED_REPETITIONS, say
    from copycost.snakefile.retry import failures  # loaded by the Snakefile: this takes no time

    failed = failures()
    if failed:
        said = "the report says which and why. ./run --retry-failed measures again."
        LAST.callback(say, f"failed: {failed}; {said}")
        raise SystemExit(EXIT_FAILED_REPETITIONS)


if __name__ == "__main__":
    main()
