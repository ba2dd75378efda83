"""What ``./run`` was asked for, checked and put as Snakemake takes it, before anything is set up.

The system's Python is enough here: neither this module nor what it imports needs a package. So the
names of Snakemake's options are known here, and the values of those that also say something to
``./run``.
"""

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

_WIRE_GRID = "config/wire.yaml"
"""What is measured with another machine where nothing else is said."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OURS = frozenset({"--minutes", "--retry-failed", "--wire"})
_CONFIG_FILES = frozenset({"--configfile", "--configfiles"})
_CONFIG = frozenset({"--config", "-C"})
MOST_CORES = 4
"""Jobs that run at once where nobody says how many [count]; cells are measured one at a time."""

_CORES = frozenset({"-c", "-j", "--cores", "--jobs"})
# With one of these the rules are not those of the Snakefile here.
_ELSEWHERE = frozenset({"-d", "--directory", "-s", "--snakefile"})
# Snakemake is only asked to look, or to tidy up: nothing is measured, so nothing need be there.
_LOOKING = _words(
    "-D -h -l -n -t --d3dag --dag --delete-all-output --delete-temp-output --detailed-summary "
    "--dry-run --dryrun --filegraph --help --lint --list --list-rules --list-target-rules "
    "--report --rulegraph --summary --touch --unlock"
)
# Short ones without a value, which may be joined: -np.
_FLAGS = frozenset(f"-{letter}" for letter in "aDFfhklnpStv")
# Snakemake 9.27 has these besides; a test compares them with its own list.
_SNAKEMAKES = _words(
    """
    --all-temp --allow-ambiguity --allowed-rules --apptainer-args --apptainer-prefix --archive
    --attempt --batch --benchmark-extended --cache --cleanup-metadata --cleanup-shadow --cm
    --conda-base-path --conda-cleanup-envs --conda-cleanup-pkgs --conda-create-envs-only
    --conda-frontend --conda-not-block-search-path-envvars --conda-prefix --config --configfile
    --configfiles --consider-ancient --container-cleanup-images --container-image --containerize
    --cores --d3dag --dag --debug --debug-dag --default-res --default-resources
    --default-storage-prefix --default-storage-provider --delete-all-output --delete-temp-output
    --deploy-sources --deployment --deployment-method --detailed-summary --directory
    --draft-notebook --drop-metadata --dry-run --dryrun --edit-notebook --envvars --executor
    --export-cwl --filegraph --force --force-use-threads --forceall --forcerun
    --generate-unit-tests --greediness --group-components --groups --help --ignore-incomplete --ii
    --immediate-submit --is --jn --job-deploy-sources --jobname --jobs --jobscript --js
    --keep-going --keep-incomplete --keep-storage-local-copies --latency-wait --lc --li --lint
    --list --list-changes --list-conda-envs --list-input-changes --list-params-changes
    --list-rules --list-target-rules --list-untracked --local-cores --local-groupid
    --local-storage-prefix --logger --lp --lt --lu --max-checksum-file-size --max-inventory-time
    --max-jobs-per-second --max-jobs-per-timespan --max-status-checks-per-second --max-threads
    --mode --no-hooks --no-subworkflows --no-temp --nocolor --nolock --nosw --not-retrieve-storage
    --notebook-listen --notemp --nt --omit-flags --omit-from --output-wait --persistence-backend
    --persistence-backend-db-url --precommand --preemptible-retries --preemptible-rules
    --print-compilation --printshellcmds --prioritize --profile --queue-input-wait-time --quiet
    --remote-job-local-storage-prefix --replace-workflow-config --report --report-after-run
    --report-html-path --report-html-stylesheet-path --report-metadata --report-stylesheet
    --reporter --rerun-incomplete --rerun-triggers --res --resources --restart-times --retries
    --ri --rulegraph --runtime-profile --runtime-source-cache-path --scheduler
    --scheduler-greediness --scheduler-greedy-greediness
    --scheduler-greedy-omit-prioritize-by-temp-and-input --scheduler-ilp-solver
    --scheduler-ilp-solver-path --scheduler-solver-path --scheduler-subsample --sdm
    --seconds-between-status-checks --set-resource-scopes --set-resources --set-scatter
    --set-threads --shadow-prefix --shared-fs-usage --show-failed-logs --singularity-args
    --singularity-prefix --skip-script-cleanup --snakefile --software-deployment-method
    --strict-dag-evaluation --summary --target-files-omit-workdir-adjustment --target-jobs --touch
    --trust-io-cache --unlock --unneeded-temp-files --until --use-apptainer --use-conda
    --use-envmodules --use-singularity --verbose --version --wait-for-files --wait-for-files-file
    --wait-for-free-local-storage --workflow-profile --wrapper-prefix
    """
)
# What ends the values of an option, unless these are themselves rules or files.
_TARGETS = frozenset({"all", *TARGETS})
_NAME_TARGETS = _words(
    "-O -P -R -U --allowed-rules --forcerun --omit-from --prioritize --target-jobs --until"
)

_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*=")
_MINUTES = re.compile(r"(?=.*[1-9])\d{1,4}(\.\d{1,6})?")
_SOME_MINUTES = "a number of minutes above 0, such as 5 or 0.5"
_PEER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:-]{0,255}")
_A_PEER = "another machine as ssh is told it, such as user@other"
_NUMBER = re.compile(r"[1-9]\d{0,8}")

# In the Snakefile and its rules.
_RULE = re.compile(r"^(?:rule|checkpoint) (\w+):", re.MULTILINE)
_MADE = re.compile(r"\bresults/([\w.]+)")
# whose names below results the rules have from the package
_MADE_BY_PACKAGE = frozenset({"raw", "passes"})


class UsageError(CopycostError):
    """Words that say nothing that could be done."""


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
        cores = [] if _CORES.intersection(self.names) else ["--cores", str(usual_cores())]
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
        _take(words, request)
    if _ELSEWHERE.isdisjoint(request.names):
        for target in request.targets:
            _require_target(target)
        for setting in request.settings:
            _require_section(setting)
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
    names, joined = _option(word)
    name = names[-1]
    if name == "--retry-failed":
        request.retries = True
    elif name == "--minutes":
        minutes = _value(name, joined, words, _MINUTES, _SOME_MINUTES)
        request.measure.append(f"minutes: {minutes}")
    elif name == "--wire":
        request.wire.append(_value(name, joined, words, _PEER, _A_PEER))
    elif name in _CONFIG_FILES:
        request.config_files += _config_files(joined, words)
    elif name in _CONFIG:
        request.settings += _settings(joined, words)
    else:
        values = joined or _values(name, words)
        for value in values:
            if problem := _problem_of(name, value):
                raise UsageError(f"{name} {value}: {problem}")
        request.words.append([word, *([] if joined else values)])
        request.names.update(names)


def _option(word: str) -> tuple[list[str], list[str]]:
    """Return an option's name and a value that is joined to it; of -np, -c2 all names."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        known = sorted(_OURS | _SNAKEMAKES)
        if name not in known and (meant := did_you_mean(name, known)):  # else that of a plugin
            raise UsageError(f"{name}: there is no such option{meant}")
        return [name], [value] if equals else []
    n_flags = next((n for n, one in enumerate(word[1:]) if f"-{one}" not in _FLAGS), len(word))
    letters, value = word[1 : n_flags + 2], word[n_flags + 2 :].removeprefix("=")
    return [f"-{letter}" for letter in letters], [value] if value else []


def _value(
    name: str, joined: list[str], words: deque[str], form: re.Pattern[str], wanted: str
) -> str:
    """Take the one value of an option of ours."""
    text = joined[0] if joined else words.popleft() if words else ""
    if not form.fullmatch(text):
        raise UsageError(f"{name} {text}: must be {wanted}")
    return text


def _values(name: str, words: deque[str]) -> list[str]:
    """Take the values of an option of Snakemake's from the left: up to the next, or a target."""
    if name in _FLAGS:
        return []
    if name in _CORES | _ELSEWHERE:
        if not words:
            raise UsageError(f"{name}: a value must follow it")
        return [words.popleft()]
    values = []
    while words and not words[0].startswith("-"):
        if name not in _NAME_TARGETS and words[0] in _TARGETS:
            break
        values.append(words.popleft())
    return values


def _problem_of(name: str, value: str) -> str | None:
    """Return why a value cannot be that of an option, as the end of a sentence."""
    match name:
        case "-c" | "--cores" if not _NUMBER.fullmatch(value) and value != "all":
            return "must be a whole number of CPUs from 1, or all"
        case "-j" | "--jobs" if not _NUMBER.fullmatch(value) and value != "unlimited":
            return "must be a whole number of jobs from 1, or unlimited"
        case "-s" | "--snakefile":
            return _no_file(value)
        case "-d" | "--directory" if not Path(value).is_dir():
            return f"there is no such folder in {Path.cwd()}; name one that exists"
    return None


def _no_file(path: str) -> str | None:
    """Return why nothing can be read of a file, as the end of a sentence; None where it can."""
    if Path(path).is_file():
        return None
    if Path(path).exists():
        return f"is {'a folder' if Path(path).is_dir() else 'no ordinary file'}; name a file"
    return f"there is no such file in {Path.cwd()}; name one that exists"


def _config_files(files: list[str], words: deque[str]) -> list[str]:
    """Take configuration files; Snakemake would take the targets behind them for files too."""
    while words and not words[0].startswith("-"):
        if files and words[0] in _TARGETS and not Path(words[0]).is_file():
            break
        files.append(words.popleft())
    if not files:
        raise UsageError("--configfile: the file must follow it, such as config/tiny.yaml")
    for file in files:
        if problem := _no_file(file):
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


def _add_settings(request: Request) -> None:
    """Add what ``--config`` has to say: settings reach the jobs on other machines too.

    The report has a chapter for each study that the configuration enables, so a study that is named
    beside the report is enabled for this run.
    """
    ours = []
    if {"report", "all"}.intersection(request.targets):
        ours += [f"{name}={{enabled: true}}" for name in request.targets if name in STUDIES]
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
    """Refuse a word that is no target, no rule, and no file that a rule could make."""
    paths = [Path("Snakefile"), *Path("workflow/rules").glob("*.smk")]
    rules = "\n".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
    made = {*_MADE_BY_PACKAGE, *_MADE.findall(rules)}
    below, _, file = os.path.normpath(word).partition("/")
    if below == "results" and file.partition("/")[0] in made:
        return
    if Path(word).is_file() or word in _RULE.findall(rules):
        return
    if word in COMMANDS:
        raise UsageError(f"{word}: is a command by itself; it must come first: ./run {word}")
    raise UsageError(unknown_target(word))
