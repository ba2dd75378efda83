"""What ``./run`` does with each of its commands; no package is needed to read this.

Nothing here is imported before it is needed: commands that only answer shall do so at once.
"""

import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from copycost.cli import environment
from copycost.cli.environment import RunError, command_of, say
from copycost.errors import CopycostError

HELP = """\
Usage: ./run [TARGETS] [OPTIONS]      set up, measure, write the report (results/report/)
       ./run setup [test|bench|slurm] only set up what a run, the tests, ... need
       ./run test [CHECK...]          all checks and tests, or the named ones; --bench: how fast
                                      copycost itself is
       ./run doctor                   what this host can and cannot measure, with remedies;
                                      --wire USER@OTHER: also that machine and the network to it
                                      (--clean removes what was copied there)
       ./run config [OPTIONS]         the whole configuration, and where each value comes from
       ./run answer [--size 64KiB]    the fastest and the cheapest way to send, as measured here
       ./run plan --gbps N            how much CPU a bitrate takes here, for every way measured
       ./run compare A/results B/results   compare two runs: kernels, releases, before and after
       ./run audit FILE.csv           judge measurements made elsewhere (docs/audit.md)
       ./run export [FILE.zip]        pack this host's results for others, with nothing private
       ./run merge FILE.zip...        add results of other hosts, write one report on all; then
                                      `report host=NAME`: the ordinary report on one of them
       ./run fetch USER@HOST...       measure other hosts over ssh, fetch and merge their results
       ./run fleet [OPTIONS]          measure what `hosts` in config.yaml names: nodes of a cluster

Targets: measure, tables, figures, report (the default); the studies profile, cpu_budget,
         datagrams, simulated, and `STUDY report` for the report with its chapter
Options: -n                           only say what would be measured
         --configfile config/tiny.yaml  a small grid, in seconds; it overrides config.yaml
         --minutes N                  continue until N minutes of measuring are spent, most where
                                      comparisons are open
         --retry-failed               measure failed repetitions again, then the rest
         --wire USER@OTHER            measure with another machine, reached by ssh
         --cores 1                    one job at a time, instead of up to four for builds and
                                      figures; cells are always measured one at a time
         All others are Snakemake's. Paths are relative to the folder of this script.
Most commands take --help; --version prints the version of copycost.
Exit codes: 0 done, 3 done but some repetitions failed (the report names them), 130 interrupted,
            anything else: Snakemake's own, or a check failed.
"""

_CHECKS = "tests/checks.sh"
_AUDIT_OPTIONS = ("-h", "--help", "--mapping", "--claims", "--output", "--formats")


def door(words: Sequence[str]) -> list[str]:
    """Do what was asked, or end; return the module to run in this process, with its words."""
    os.environ["PATH"] = f"{Path('.venv/bin').absolute()}:{os.environ['PATH']}:/usr/sbin:/sbin"
    _find_cache()
    try:
        done = _do(*words[:1], words=list(words[1:]))
    except CopycostError as error:
        say(str(error))
        sys.exit(1)
    if isinstance(done, int):
        sys.exit(done)
    return done


def _do(command: str = "", *, words: list[str]) -> int | list[str]:
    """Return the exit code, or what is left to run in this process."""
    match command:
        case "help" | "-h" | "--help":
            sys.stdout.write(HELP)
            return 0
        case "--version" | "-v" | "-V":
            project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
            print(f"copycost {project['version']}")
            return 0
        case "setup":
            return _set_up(*words[:1])
        case "test":
            return _test(words)
        case "doctor":
            from copycost.cli import apt_packages

            apt_packages.find_perf()  # nothing is installed: what is missing is part of the answer
            return ["copycost.cli.doctor.command", *words]
        case "answer" | "compare" | "merge" | "plan":
            return _with(environment.RUN, "copycost", command, *words)
        case "export":
            return _with(environment.needed_here(), "copycost", command, *words)
        case "config":
            return _with(environment.needed_here(), "copycost.cli.show_config", *words)
        case "audit" if words and (
            words[0][:1] not in ("", "-") or words[0].startswith(_AUDIT_OPTIONS)
        ):
            if Path(words[0]).is_file():
                environment.make(environment.RUN)
            return _with(environment.RUN, "copycost", command, *words)
        case "report" if words and words[0].startswith("host="):
            name = words[0].removeprefix("host=")
            return _with(environment.RUN, "copycost.cli.host_report", name, *words[1:])
        case "fetch" | "fleet":
            from copycost.cli.fetch_and_fleet import fetch, fleet

            return fetch(words) if command == "fetch" else fleet(words)
    from copycost.cli import measuring

    return measuring.measure([command, *words] if command else words)


def _with(lock: str, *words: str) -> list[str]:
    """Return words for the environment's Python; where this is another one, it takes over here."""
    environment.require(lock)
    if not environment.is_running():
        os.execv(environment.PYTHON, command_of(*words))
    return list(words)


def _set_up(what: str = "run") -> int:
    from copycost.cli import apt_packages, measuring

    if what == "test":
        _set_up_tests(with_slurm=False)
    elif what in ("run", "bench", "slurm"):
        measuring.set_up()
        if what == "bench":
            apt_packages.set_up_bench()
        elif what == "slurm":
            environment.make(environment.SLURM)
    else:
        raise RunError(
            f"setup {what}: there is no such thing to set up; choose run (the default), "
            "test, bench or slurm"
        )
    say("set up: all that is available here is installed")
    return 0


def _set_up_tests(*, with_slurm: bool) -> None:
    from copycost.cli import apt_packages

    apt_packages.set_up_run()
    apt_packages.set_up_tests(with_slurm=with_slurm)
    environment.make(environment.TESTS)
    if with_slurm:
        environment.make(environment.SLURM)


def _test(words: Sequence[str]) -> int | list[str]:
    """Run the checks and tests, or with ``--bench`` as the first word the benchmark."""
    is_bench = words[:1] == ["--bench"]
    ask = [sys.executable, "-m", "tools.bench.arguments", *words[1:]]
    known = subprocess.run(ask if is_bench else [_CHECKS, "--known", *words], check=False)
    if known.returncode != 0 or {"-h", "--help"}.intersection(words):
        return known.returncode
    if is_bench:
        _set_up("bench")
        return _with(environment.needed_here(), "tools.bench", *words[1:])
    _set_up_tests(with_slurm="slurm" in words or bool(os.environ.get("CI")))
    os.execv(_CHECKS, [_CHECKS, *words])


def _find_cache() -> None:
    """Give Snakemake and Matplotlib a cache here where the user can have none, and they fail."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "~"), ".cache"))
    with suppress(OSError):
        usual.mkdir(parents=True, exist_ok=True)
    if not os.access(usual, os.W_OK):
        here = Path(".snakemake/cache").absolute()
        os.environ |= {"XDG_CACHE_HOME": str(here), "MPLCONFIGDIR": str(here / "matplotlib")}
