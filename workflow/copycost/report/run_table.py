"""The table of what a run was made of: when, from which sources, with which programs."""

from collections.abc import Iterable, Mapping
from typing import Any

from copycost.report.markdown import code, escape
from copycost.wording.filters import duration, join_and
from copycost.wording.plurals import plural


def run_rows(facts: Mapping[str, Any]) -> list[list[str]]:
    """Return (what, value) rows in Markdown."""
    run, tools = facts["run"], facts["host"]["tools"]
    rows = [
        ("Measured", _when(run)),
        ("Repetitions", _repetitions(run)),
        ("Time in windows", _time(run)),
        ("Commit", _list(run["commits"], "not known: not run from a clone with its history")),
        ("Host facts (SHA-256)", _list(run["host_digests"], "none")),
        *(
            (f"Sender {code(name)}", code(build))
            for name, builds in run["sender_builds"].items()
            for build in builds
        ),
        *(("Receiver", code(build)) for build in run["receiver_builds"]),
        *(("Tool", _tool(name, facts)) for name, facts in tools.items() if facts["path"]),
        ("Software", ", ".join(f"{name} {version}" for name, version in run["versions"].items())),
    ]
    return [[name, value] for name, value in rows]


def commit_only(commit: str) -> str:
    """Return a commit's hash without a mark such as ``-dirty`` or ``+changes`` behind it."""
    return commit.split("-")[0].split("+")[0].split(" ")[0]


def _when(run: Mapping[str, Any]) -> str:
    if not run["started_at"]:
        return "nothing was measured"
    first, last = (escape(run[key])[:19].replace("T", " ") for key in ("started_at", "finished_at"))
    return f"first repetition {first}, last {last} (UTC)"


def _repetitions(run: Mapping[str, Any]) -> str:
    return (
        f"{run['n_repetitions']} of {plural(run['n_cells'], 'cell')}: {run['n_measured']} "
        f"measured, {run['n_failed']} failed, {run['n_skipped']} skipped"
    )


def _time(run: Mapping[str, Any]) -> str:
    return f"{duration(run['measured_s'])}, of {duration(run['wall_s'])} that the repetitions took"


def _list(values: Iterable[str], otherwise: str) -> str:
    found = list(values)
    return join_and(code(value) for value in found) if found else otherwise


def _tool(name: str, facts: Mapping[str, Any]) -> str:
    said = escape(facts["version"] or "version not found")
    return said if said.startswith(name) else f"{escape(name)} {said}"
