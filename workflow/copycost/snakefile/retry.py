"""Which repetitions failed or were skipped, and how to have them measured again.

A failed repetition is a result like any other: it has a record and stays until somebody asks for
another try, so that n never falls silently. So does what is known of another machine that could not
be reached, by which all repetitions with it were skipped. To ask, run ``python -m
copycost.snakefile.retry`` (or ``./run --retry-failed``), which removes these files, and then the
workflow.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from copycost.config.cells import RAW_ROOT, Cell
from copycost.config.config import Config
from copycost.config.passes import known_paths
from copycost.errors import DataError
from copycost.records.files import read_json, set_aside
from copycost.snakefile.describe_repetition import describe_cell
from copycost.snakefile.outcomes import MEMORY_PATH, UNREADABLE, Outcome, outcomes
from copycost.snakefile.placeholder_outputs import left_out
from copycost.studies.profile.grid import profile_cells
from copycost.wording.words import plural

PEERS_PATH = Path("results/peers")

# Saved by the run before it measures anything.
CONFIG_PATH = Path("results/config.yaml")


def saved_config() -> Config | None:
    """Return the last run's configuration.

    None where none was saved, one of an older copycost, or one that a full disk cut short.
    """
    try:
        text = CONFIG_PATH.read_text(encoding="utf-8")
        return Config.from_dict(yaml.load(text, yaml.CSafeLoader))
    except (FileNotFoundError, ValueError, yaml.YAMLError):
        return None


def present_paths(raw: Path) -> list[Path]:
    """Return the paths of the records that the last run's configuration asks for, of all studies.

    Records of other grids may lie beside them, and are of no concern until they are asked for
    again. Where no configuration is known, all records below `raw`.
    """
    config = saved_config()
    return sorted(raw.rglob("*.json")) if config is None else asked_paths(config)


def asked_paths(config: Config) -> list[Path]:
    """Return the paths of the records that a configuration asks for, of all studies."""
    with_rules_of_their_own = (
        *profile_cells(config, ("cpu_budget", "datagrams")),
        *config.cpu_budget.cells(),
        *config.datagrams.cells(),
        *config.simulated.cells(),
    )
    memory = [MEMORY_PATH] if config.measure.memory_floor else []
    others = [cell.path for cell in with_rules_of_their_own]
    return [*map(Path, (*known_paths(config), *others, *memory))]


def unreached() -> Iterator[Outcome]:
    """Yield other machines that could not be reached."""
    for path in sorted(PEERS_PATH.glob("*.json")):
        if (missing := read_json(path)["wire"]["unavailable"]) is not None:
            yield Outcome(path, "not reached", missing["reason"])


def describe(path: Path) -> str:
    """Return what a record is of, in words."""
    if path.parent == PEERS_PATH:
        return f"everything over the wire to {path.stem}"
    if str(path) == MEMORY_PATH:
        return "memory floor"
    try:
        return describe_cell(Cell.from_path(str(path)))
    except DataError:
        return str(path).removeprefix(f"{RAW_ROOT}/")


def summarise(found: Sequence[Outcome], n_asked: int) -> str:
    """Return how many of the repetitions that were asked for say measured, and how many do not."""
    statuses = [one.status for one in found if str(one.path) != MEMORY_PATH]
    parts = [f"{statuses.count('measured')} of {plural(n_asked, 'repetition')} measured"]
    for status in ("failed", "skipped", UNREADABLE):
        if status in statuses:
            parts.append(f"{statuses.count(status)} {status}")
    return ", ".join(parts)


def failed(found: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes that another try may change."""
    # a run in which nothing was measured has failed, whatever each repetition says
    nothing = all(one.status == "skipped" for one in found if str(one.path) != MEMORY_PATH)
    wanted = {"failed", UNREADABLE, *(["skipped"] if nothing else [])}
    return [one for one in found if one.status in wanted]


def failures() -> str:
    """Return how many repetitions and files of the report have failed, in words; or nothing."""
    numbers = {
        "repetition": len(failed(outcomes(present_paths(Path(RAW_ROOT))))),
        "report file": len(left_out()),
    }
    return " and ".join(plural(n, what) for what, n in numbers.items() if n)


def main(word: str = "") -> None:
    """Remove the records of failed repetitions, so that the next run measures them again.

    With ``--list``, it only lists them.
    """
    found = outcomes(present_paths(Path(RAW_ROOT)))
    again = failed(found)
    for outcome in (*again, *unreached()):
        print(f"{describe(outcome.path)}: {outcome.status}, {outcome.reason}")
        if word == "--list" or not outcome.path.exists():
            continue
        if outcome.status == UNREADABLE:
            set_aside(outcome.path, str(outcome.reason))
        else:
            outcome.path.unlink()
    files = {outcome.path for outcome in again}
    n_again = sum(outcome.path in files for outcome in found)  # a job measures all of a file
    what = "to measure again" if word == "--list" else "will be measured again by the next run"
    print(f"copycost: {plural(n_again, 'repetition')} {what}")


if __name__ == "__main__":
    main(*sys.argv[1:])
