"""``./run fetch`` and ``./run fleet``: other hosts are measured, and their results merged."""

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from copycost.cli import environment, measuring
from copycost.cli.command_line import parse
from copycost.cli.environment import EXIT_FAILED_REPETITIONS, RunError, command_of, say
from copycost.compare.hosts.privacy import RULE, fitting_name, require_name, shown
from copycost.config.checkout import SOURCES
from copycost.errors import ConfigError
from copycost.snakefile import interruption

_THERE = "copycost_fleet"  # folder in the home of the user there
_GO_THERE = f"cd {_THERE} && export COPYCOST_PACKAGES={environment.MEASURE} &&"
_SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=30", "-T")  # asks for no password
_PACKAGES = {"ssh": "openssh-client", "tar": "tar"}
_NODES = Path("results/nodes")
# what ssh takes in no name of a host (valid_hostname in ssh.c)
_REFUSED = re.compile(r"""[\s\0-\x1f'`"$\\;&<>|(){}]""")

# Of ssh's end, or a link that breaks, what runs there notices nothing: so we say a line each
# second, and where none comes any more it ends there, as by Ctrl-C, and 1 s later whatever it does.
_ATTENDED = """set -m
(eval "$1") </dev/null & job=$!
(while read -r -t 4; do :; done
kill -INT -- -$job; sleep 1; kill -KILL -- -$job) 2>/dev/null & watch=$!
set +m
wait $job; status=$?
kill -KILL -- -$watch -$job 2>/dev/null
exit $status"""


def fetch(words: Sequence[str]) -> int:
    """Measure hosts by ``./run`` there, merge what they bring; return the exit code."""
    n_targets = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    if not n_targets:
        raise RunError("fetch: name hosts as ssh knows them: ./run fetch user@host")
    targets, options = named_targets(words[:n_targets]), words[n_targets:]
    dry_run = parse(options).dry_run
    measuring.require_own_folder()
    for tool, package in _PACKAGES.items():
        if which(tool) is None:
            raise RunError(f"fetch: {tool} is missing; to install: sudo apt-get install {package}")
    environment.make(environment.RUN)
    _NODES.mkdir(parents=True, exist_ok=True)
    failed = []
    for name, target in targets.items():
        say(f"{target}: measuring in {_THERE}, as {name}")
        command = shlex.join(["./run", "measure", *options])
        if not _fetch_one(target, name, command, dry_run=dry_run):
            failed.append(target)
    if not dry_run:
        _merge_brought()
    if failed:
        raise RunError(f"not fetched: {' '.join(failed)}; the same command goes on there")
    return 0


def named_targets(words: Sequence[str]) -> dict[str, str]:
    """Return how ssh reaches each host, by the host's name, from ``[NAME=]TARGET``.

    What a host calls itself is not asked: many may have the same configuration, and so the same
    alias.

    Raises ConfigError if a word is no host, its name is none, or two hosts have the same.
    """
    found: dict[str, str] = {}
    for word in words:
        given, is_named, target = word.partition("=") if "=" in word else ("", "", word)
        if not target or target.startswith("-") or _REFUSED.search(target):
            raise ConfigError(f"fetch: {shown(target)!r} is no host; expected one as ssh knows it")
        if is_named:
            name = require_name(given, f"fetch: {word}")
        else:
            name = fitting_name(target.removeprefix("ssh://").rpartition("@")[2])
        if not name:
            raise ConfigError(
                f"fetch: no name can be made of {shown(target)!r}; give it one: NAME=USER@HOST, "
                f"of {RULE}"
            )
        if name in found:
            raise ConfigError(
                f"fetch: {found[name]} and {shown(target)} are both called {name}, and are taken "
                "for one host then; give one of them another name: NAME=USER@HOST"
            )
        found[name] = target
    return found


def _fetch_one(target: str, name: str, measure: str, *, dry_run: bool) -> bool:
    ssh = [*_SSH, target]
    with subprocess.Popen(["tar", "-cf", "-", *SOURCES], stdout=subprocess.PIPE) as packed:
        unpack = [*ssh, f"mkdir -p {_THERE} && tar -xf - -C {_THERE}"]
        sent = subprocess.run(unpack, stdin=packed.stdout, check=False).returncode == 0
    if not sent or dry_run:
        return sent and _attended(target, f"{_GO_THERE} ./run setup && {measure}") == 0
    status = _attended(target, f"{_GO_THERE} {measure}")
    measured = status in (0, EXIT_FAILED_REPETITIONS)
    if not measured:
        say(
            f"{target}: ended with status {status}; what was measured there stays, and is brought "
            "here so far"
        )
    file = _NODES / (f"{name}.zip" if measured else f"{name}.part.zip")
    partial = file.with_name(f"{file.name}.partial")
    with partial.open("wb") as archive:
        export = [*ssh, f"{_GO_THERE} ./run export - --alias {name}"]
        if subprocess.run(export, stdout=archive, check=False).returncode != 0:
            return False
    partial.replace(file)
    return measured


def _attended(target: str, command: str) -> int:
    """Run a command there for as long as we are here; return its status."""
    script = f"bash -c {shlex.quote(_ATTENDED)} attended {shlex.quote(command)}"
    with subprocess.Popen([*_SSH, target, script], stdin=subprocess.PIPE, bufsize=0) as there:
        assert there.stdin is not None
        while True:
            try:
                there.stdin.write(b"\n")
                return there.wait(1.0)
            except subprocess.TimeoutExpired:
                continue
            except BrokenPipeError:
                return there.wait()


def _merge_brought() -> None:
    """Merge what was brought: of each host the newer of its whole results and a part of them."""
    newest: dict[str, Path] = {}
    for archive in sorted(_NODES.glob("*.zip"), key=lambda path: path.stat().st_mtime_ns):
        newest[archive.name.removesuffix(".zip").removesuffix(".part")] = archive
    if not newest:
        raise RunError("no host has brought results; see above")
    brought = [str(newest[name]) for name in sorted(newest)]
    # our own hosts, which may have changed
    environment.run(command_of("copycost", "merge", "--update", *brought)).check_returncode()


def fleet(words: Sequence[str]) -> int:
    """Measure what `hosts` in the configuration names, and merge; return the exit code.

    Where a node failed, the report is over the others, and what it brought.
    """
    request = parse(words)
    if request.dry_run:
        environment.require(environment.RUN)
    else:
        measuring.set_up()
    asked = command_of("copycost.config.sources", "--places", *request.config_files)
    where = environment.run(asked, stdout=subprocess.PIPE)
    if where.returncode != 0:
        return where.returncode
    if "local" in where.stdout and not request.dry_run:
        status = measuring.measure(["measure", *words])
        if status not in (0, EXIT_FAILED_REPETITIONS):
            return status
    merging = ["--forcerun", "merge_hosts", *words, "--", "fleet"]
    if "slurm" not in where.stdout:
        return measuring.measure(merging)
    if which("sbatch") is None:
        raise RunError("sbatch is not on the PATH; run this where Slurm's commands work")
    if request.dry_run and not environment.is_whole(environment.SLURM):
        raise RunError("Snakemake's plugin for Slurm is missing; ./run setup slurm adds it")
    environment.make(environment.SLURM)
    status = measuring.measure(["--profile", "workflow/profiles/slurm", *merging])
    if status and not request.dry_run:
        if status != interruption.EXIT_CODE:
            environment.run(command_of("copycost.snakefile.failed_nodes"))
        if _NODES.is_dir():
            say("not every node was measured; the report is over what there is")
            _merge_brought()
    return status
