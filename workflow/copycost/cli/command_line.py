"""What ``./run`` was asked for, checked and put as Snakemake takes it, before anything is set up.

The system's Python is enough here: neither this module nor what it imports needs a package.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from copycost.cli import snakemake_options as options
from copycost.cli.known import UsageError, require_section, require_target
from copycost.snakefile.messages import TARGETS
from copycost.wording.words import did_you_mean

_WIRE_GRID = "config/wire.yaml"
"""What is measured with another machine where nothing else is said."""

# Studies that a run with a report takes into it when they are named.
_STUDIES = ("profile", "cpu_budget", "datagrams", "simulated")

_OURS = options.words("--minutes --retry-failed --wire")
_CONFIG_FILES = frozenset({"--configfile", "--configfiles"})
_CONFIG = frozenset({"--config", "-C"})
_CORES = frozenset({"-c", "-j", "--cores", "--jobs"})
# What ends the values of an option where it is not itself about targets.
_TARGETS = frozenset({"all", *TARGETS})
# Whose values are rules or files, as targets are.
_NAME_TARGETS = options.words(
    "-O -P -R -U --allowed-rules --forcerun --omit-from --prioritize --target-jobs --until"
)
# Snakemake is only asked to look, or to tidy up: nothing is measured, so nothing need be there.
_LOOKING = options.words(
    "-D -h -l -n -t --d3dag --dag --delete-all-output --delete-temp-output --detailed-summary "
    "--dry-run --dryrun --filegraph --help --lint --list --list-rules --list-target-rules "
    "--report --rulegraph --summary --touch --unlock"
)
# With one of these the rules are not those of the Snakefile here.
_ELSEWHERE = frozenset({"-d", "--directory", "-s", "--snakefile"})

_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*=")
_MINUTES = re.compile(r"(?=.*[1-9])\d{1,4}(\.\d{1,6})?")
_PEER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:-]{0,255}")


@dataclass(slots=True)
class Request:
    """What was asked for: targets, and options for Snakemake, each with its values.

    Of the options, `names` has the names alone, `measure` what options of ``./run`` say of the
    section `measure`, and `wire` the other machines that are to be measured with.
    """

    targets: list[str] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    config_files: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    measure: list[str] = field(default_factory=list)
    wire: list[str] = field(default_factory=list)
    retries: bool = False

    @property
    def dry_run(self) -> bool:
        """Whether this only shows what a run would do, or what there is."""
        return not _LOOKING.isdisjoint(self.names)

    def for_snakemake(self) -> list[str]:
        """Return the words for Snakemake, targets first."""
        cores = [] if _CORES.intersection(self.names) else ["--cores", "1"]
        return [*cores, *self.targets, *(word for group in self.words for word in group)]


def parse(arguments: Sequence[str]) -> Request:
    """Return what was asked for.

    Raises
    ------
    UsageError
        In one sentence: an option or a target that there is not, a file that is missing, ...
    """
    words = deque(arguments)
    request = Request()
    while words:
        _take(words, request)
    if _ELSEWHERE.isdisjoint(request.names):
        for target in request.targets:
            require_target(target)
        for setting in request.settings:
            require_section(setting)
    _add_settings(request)
    return request


def _take(words: deque[str], request: Request) -> None:
    """Take one option with its values, or one target, from the left."""
    word = words.popleft()
    if word == "--":
        request.targets += words
        words.clear()
        return
    if not word.startswith("-") or word == "-":
        request.targets.append(word)
        return
    names, *joined = _option(word)
    name = names[-1]
    if name == "--minutes":
        request.measure.append(f"minutes: {_minutes(*joined or [_next(words)])}")
    elif name == "--retry-failed":
        request.retries = True
    elif name == "--wire":
        request.wire.append(_peer(*joined or [_next(words)]))
    elif name in _CONFIG_FILES:
        request.config_files += _config_files(joined, words)
    elif name in _CONFIG:
        request.settings += _settings(joined, words)
    else:
        values = joined or _values(name, words)
        for value in values:
            if problem := options.problem_of(name, value):
                raise UsageError(f"{name} {value}: {problem}")
        request.words.append([word, *([] if joined else values)])
        request.names.update(names)


def _option(word: str) -> tuple[list[str], *tuple[str, ...]]:
    """Return an option's name and a value that is joined to it; of -np, -c2 all names."""
    names: list[str] = []
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        meant = did_you_mean(name, sorted(options.ALL | _OURS))
        if meant and name not in options.ALL | _OURS:
            raise UsageError(f"{name}: there is no such option{meant}")  # else that of a plugin
        return [name], *([value] if equals else [])
    for place, letter in enumerate(word[1:], 2):
        names.append(f"-{letter}")
        if names[-1] not in options.ALL:
            raise UsageError(f"{names[-1]}: there is no such option; ./run help names some")
        if names[-1] not in options.NO_VALUE:
            return names, *([word[place:].removeprefix("=")] if word[place:] else [])
    return (names,)


def _next(words: deque[str]) -> str:
    return words.popleft() if words else ""


def _values(name: str, words: deque[str]) -> list[str]:
    """Take the values of an option of Snakemake's from the left."""
    if name in options.NO_VALUE:
        return []
    if name in options.A_VALUE_OR_NONE:
        return [] if not words or _begins_another(name, words[0]) else [words.popleft()]
    if name in options.SEVERAL_VALUES or name not in options.ALL:  # of a plugin: as it may be
        values = []
        while words and not _begins_another(name, words[0]):
            values.append(words.popleft())
        return values
    n_values = 2 if name in options.TWO_VALUES else 1
    if len(words) < n_values:
        raise UsageError(f"{name}: a value must follow it")
    return [words.popleft() for _ in range(n_values)]


def _begins_another(name: str, word: str) -> bool:
    return word.startswith("-") or (name not in _NAME_TARGETS and word in _TARGETS)


def _config_files(files: list[str], words: deque[str]) -> list[str]:
    """Take configuration files; Snakemake would take the targets behind them for files too."""
    while words and not words[0].startswith("-"):
        if files and words[0] in _TARGETS and not Path(words[0]).is_file():
            break
        files.append(words.popleft())
    if not files:
        raise UsageError("--configfile: the file must follow it, such as config/tiny.yaml")
    for file in files:
        if problem := options.no_file(file):
            raise UsageError(f"--configfile {file}: {problem}")
    return files


def _settings(settings: list[str], words: deque[str]) -> list[str]:
    """Take NAME=VALUE; Snakemake would show a traceback where a word is not."""
    while words and not words[0].startswith("-"):
        if settings and words[0] in _TARGETS:
            break
        settings.append(words.popleft())
    for setting in settings or [""]:
        if not _SETTING.match(setting):
            raise UsageError(
                f"--config {setting}: must be a section, = and what to put into it, such as "
                "measure='{repetitions: 5}'"
            )
    return settings


def _minutes(text: str) -> str:
    if not _MINUTES.fullmatch(text):
        raise UsageError(f"--minutes {text}: must be a number of minutes above 0, such as 5 or 0.5")
    return text


def _peer(text: str) -> str:
    if not _PEER.fullmatch(text):
        raise UsageError(
            f"--wire {text}: must be another machine as ssh is told it, such as user@other"
        )
    return text


def _add_settings(request: Request) -> None:
    """Add what ``--config`` has to say: settings reach the jobs on other machines too.

    The report has a chapter for each study that the configuration enables, so a study that is named
    beside the report is enabled for this run.
    """
    ours = []
    if {"report", "all"}.intersection(request.targets):
        ours += [f"{name}={{enabled: true}}" for name in request.targets if name in _STUDIES]
    if request.measure:
        said = ", ".join(request.measure)
        if any(setting.startswith("measure=") for setting in request.settings):
            raise UsageError(
                "--config measure=... cannot go with what is said of it elsewhere; "
                f"put {said} into it"
            )
        ours.append(f"measure={{{said}}}")
    if request.wire:
        if any(setting.startswith("wire=") for setting in request.settings):
            raise UsageError("--config wire=... cannot go with --wire; put the peer into it")
        peer, *others = (f"peer: '{name}'" for name in request.wire)
        more = ", ".join(f"{{{other}}}" for other in others)
        ours.append(f"wire={{{peer}{f', more: [{more}]' if more else ''}}}")
        request.config_files = request.config_files or [_WIRE_GRID]
    if request.config_files:
        request.words.append(["--configfile", *request.config_files])
    if ours or request.settings:
        request.settings = [*ours, *request.settings]
        request.words.append(["--config", *request.settings])
