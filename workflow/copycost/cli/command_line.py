"""What ``./run`` was asked for, checked and put as Snakemake takes it, before anything is set up.

The system's Python is enough here: neither this module nor what it imports needs a package. So of
Snakemake's options those are known here that also say something to ``./run``.
"""

import difflib
import os
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from copycost.config.audit_files import KEYS as AUDIT_KEYS
from copycost.errors import CopycostError
from copycost.snakefile.messages import COMMANDS, STUDIES, TARGETS, unknown_target
from copycost.wording.words import did_you_mean

MOST_CORES = 4
"""Jobs that run at once where nobody says how many [count]; cells are measured one at a time."""

_WIRE_GRID = "config/wire.yaml"
"""What is measured with another machine where nothing else is said."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OURS = _words("--minutes --retry-failed --wire")
_OTHER_NAMES = {
    "-C": "--config", "--configfiles": "--configfile", "-c": "--cores", "-j": "--jobs",
    "-d": "--directory", "-s": "--snakefile",
}  # fmt: skip
# What each value of an option must be: in words, and as a pattern.
_VALUES = {
    "--minutes": ("a number of minutes above 0, such as 5 or 0.5",
                  r"(?=.*[1-9])\d{1,4}(\.\d{1,6})?"),
    "--wire": ("another machine as ssh is told it, such as user@other",
               r"[A-Za-z0-9_][A-Za-z0-9_.@:-]{0,255}"),
    "--cores": ("a whole number of CPUs from 1, or all", r"[1-9]\d{0,8}|all"),
    "--jobs": ("a whole number of jobs from 1, or unlimited", r"[1-9]\d{0,8}|unlimited"),
    "--config": ("a section, = and what to put into it, such as measure='{repetitions: 5}'",
                 r"(?s:[A-Za-z_][A-Za-z0-9_-]*=.*)"),
}  # fmt: skip
_ONE_VALUE = _words("--minutes --wire --cores --jobs --directory --snakefile")
_MORE_VALUES = _words("--config --configfile")
# Snakemake is only asked to look, or to tidy up: nothing is measured, so nothing need be there.
_LOOKING = _words(
    "-D -h -l -n -t --d3dag --dag --delete-all-output --delete-temp-output --detailed-summary "
    "--dry-run --dryrun --filegraph --help --lint --list --list-rules --list-target-rules "
    "--report --rulegraph --summary --touch --unlock"
)
# Short ones without a value, which may be joined: -np.
_FLAGS = frozenset(f"-{letter}" for letter in "aDFfhklnpStv")
# A name that is nearly one of these is a misspelt one; whatever else there is, Snakemake knows.
_WELL_KNOWN = sorted(
    {name for name in _OURS | _LOOKING | _ONE_VALUE | _MORE_VALUES if name.startswith("--")}
    | _words("--configfiles --force --forceall --forcerun --keep-going --profile --quiet --until")
)
_NEARLY = 0.9
# What ends the values of an option, unless these are themselves rules or files.
_TARGETS = frozenset({"all", *TARGETS})
_NAME_TARGETS = _words(
    "-O -P -R -U --allowed-rules --forcerun --omit-from --prioritize --target-jobs --until"
)

# In the Snakefile and its rules.
_RULE = re.compile(r"^(?:rule|checkpoint) (\w+):", re.MULTILINE)


class UsageError(CopycostError):
    """Words that say nothing that could be done."""


@dataclass(slots=True)
class Request:
    """What was asked for: targets, and options for Snakemake, each with its values.

    Of the options, `names` has the names alone, `minutes` and `retries` what ``./run`` itself is
    told, and `wire` the other machines that are to be measured with.
    """

    targets: list[str] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    config_files: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    minutes: str | None = None
    wire: list[str] = field(default_factory=list)
    retries: bool = False

    @property
    def dry_run(self) -> bool:
        """Whether this only shows what a run would do, or what there is."""
        return not _LOOKING.isdisjoint(self.names)

    def for_snakemake(self) -> list[str]:
        """Return the words for Snakemake, targets first."""
        stated = not self.names.isdisjoint({"--cores", "--jobs"})
        cores = [] if stated else ["--cores", str(usual_cores())]
        return [*cores, *self.targets, *(word for group in self.words for word in group)]


def usual_cores() -> int:
    """Return how many jobs may run at once beside no measurement: more hardly help [count]."""
    return min(len(os.sched_getaffinity(0)), MOST_CORES)


def parse(arguments: Sequence[str]) -> Request:
    """Return what was asked for.

    Raises UsageError, in one sentence, for a target that there is not, a file that is missing, ...
    """
    words = deque(arguments)
    request = Request()
    while words:
        word = words.popleft()
        if word == "--":
            request.targets += words
            words.clear()
        elif word.startswith("-") and word != "-":
            _take_option(word, words, request)
        else:
            request.targets.append(word)
    # with one of these the rules are not those of the Snakefile here
    if request.names.isdisjoint({"--directory", "--snakefile"}):
        for target in request.targets:
            _require_target(target)
        for setting in request.settings:
            _require_section(setting)
    _add_settings(request)
    return request


def _take_option(word: str, words: deque[str], request: Request) -> None:
    """Take one option with its values, from the left."""
    names, joined = _split(word)
    name = _OTHER_NAMES.get(names[-1], names[-1])
    values = joined or _values(name, words)
    if not values and name in _ONE_VALUE | _MORE_VALUES:
        raise UsageError(f"{names[-1]}: a value must follow it")
    for value in values:
        if problem := _problem_of(name, value):
            raise UsageError(f"{names[-1]} {value}: {problem}")
    match name:
        case "--retry-failed":
            request.retries = True
        case "--minutes":
            request.minutes = values[0]
        case "--wire":
            request.wire += values
        case "--configfile":
            request.config_files += values
        case "--config":
            request.settings += values
        case _:
            request.words.append([word, *([] if joined else values)])
            request.names.update({*names, name})


def _split(word: str) -> tuple[list[str], list[str]]:
    """Return an option's name and a value that is joined to it; of -np, -c2 all names."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        for meant in difflib.get_close_matches(name, _WELL_KNOWN, n=1, cutoff=_NEARLY):
            if meant != name:
                raise UsageError(f"{name}: there is no such option; did you mean {meant}?")
        return [name], [value] if equals else []
    n_flags = next((n for n, one in enumerate(word[1:]) if f"-{one}" not in _FLAGS), len(word))
    letters, value = word[1 : n_flags + 2], word[n_flags + 2 :].removeprefix("=")
    return [f"-{letter}" for letter in letters], [value] if value else []


def _values(name: str, words: deque[str]) -> list[str]:
    """Take the values of an option from the left: up to the next one, or to a target."""
    values: list[str] = []
    while words and not words[0].startswith("-") and name not in _FLAGS | {"--retry-failed"}:
        needs_one = not values and name in _ONE_VALUE | _MORE_VALUES
        is_value = name in _NAME_TARGETS or words[0] not in _TARGETS
        if not (needs_one or is_value) or (values and name in _ONE_VALUE):
            break
        values.append(words.popleft())
    return values


def _problem_of(name: str, value: str) -> str | None:
    """Return why a value cannot be that of an option, as the end of a sentence."""
    path = Path(value)
    if name == "--directory" and not path.is_dir():
        return f"there is no such folder in {Path.cwd()}; name one that exists"
    if name in ("--snakefile", "--configfile") and not path.is_file():
        if path.exists():
            return f"is {'a folder' if path.is_dir() else 'no ordinary file'}; name a file"
        return f"there is no such file in {Path.cwd()}; name one that exists"
    if name in _VALUES and not re.fullmatch(_VALUES[name][1], value):
        return f"must be {_VALUES[name][0]}"
    return None


def _add_settings(request: Request) -> None:
    """Add what ``--config`` has to say: settings reach the jobs on other machines too.

    The report has a chapter for each study that the configuration enables, so a study that is named
    beside the report is enabled for this run.
    """
    ours = []
    if {"report", "all"}.intersection(request.targets):
        ours += [f"{name}={{enabled: true}}" for name in request.targets if name in STUDIES]
    if request.minutes:
        _require_unsaid("measure", "--minutes", request)
        ours.append(f"measure={{minutes: {request.minutes}}}")
    if request.wire:
        _require_unsaid("wire", "--wire", request)
        peer, *others = (f"peer: '{name}'" for name in request.wire)
        more = ", ".join(f"{{{other}}}" for other in others)
        ours.append(f"wire={{{peer}{f', more: [{more}]' if more else ''}}}")
        request.config_files = request.config_files or [_WIRE_GRID]
    if request.config_files:
        request.words.append(["--configfile", *request.config_files])
    if ours or request.settings:
        request.settings = [*ours, *request.settings]
        request.words.append(["--config", *request.settings])


def _require_unsaid(section: str, option: str, request: Request) -> None:
    if any(setting.startswith(f"{section}=") for setting in request.settings):
        raise UsageError(f"--config {section}=... cannot go with {option}; say both in --config")


def _require_section(setting: str) -> None:
    """Refuse NAME=VALUE of no section, of which Snakemake would show a traceback."""
    from copycost.config.config import Config  # few commands have such a word

    known = [*(section.name for section in fields(Config)), *AUDIT_KEYS]
    if (name := setting.partition("=")[0]) not in known:
        raise UsageError(
            f"--config {name}=...: there is no such section; sections are "
            f"{', '.join(known)}{did_you_mean(name, known)}"
        )


def _require_target(word: str) -> None:
    """Refuse a word that is no target, no rule and no path, of which Snakemake says the same."""
    paths = [Path("Snakefile"), *Path("workflow/rules").glob("*.smk")]
    rules = (path.read_text(encoding="utf-8") for path in paths if path.is_file())
    if "/" in word or Path(word).is_file() or any(word in _RULE.findall(text) for text in rules):
        return
    if word in COMMANDS:
        raise UsageError(f"{word}: is a command by itself; it must come first: ./run {word}")
    raise UsageError(unknown_target(word))
