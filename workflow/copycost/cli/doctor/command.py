"""Tell what this host can and cannot measure: ``python -m copycost.cli.doctor.command``."""

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

from copycost.build.typesetter import find_typesetter
from copycost.cli.doctor.collect import collect_host
from copycost.cli.doctor.findings import Finding, State, judge_host, judge_typesetter
from copycost.cli.doctor.findings_wire import judge_wire
from copycost.cli.doctor.guests import judge_guests, judge_simulation
from copycost.cli.doctor.peer import peer_reached
from copycost.config.wire import Peer, peer_named
from copycost.errors import ConfigError, CopycostError
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.local import LocalHost
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import clean

_MARKS: dict[State, str] = {"ok": "+", "limited": "~", "missing": "-", "fact": " "}
_LEGEND = "+ as it should be   ~ limited   - not available   > remedy"
_WIDEST_VALUE = 26


def render(findings: Sequence[Finding], width: int) -> str:
    """Return the findings as a table for people, at most `width` characters wide.

    A note is not repeated from line to line, and a remedy stands below the first finding only.
    """
    names = max(len(finding.name) for finding in findings)
    # The odd long value runs into the column of notes, and its note goes below it.
    values = max(len(f.value) for f in findings if len(f.value) <= _WIDEST_VALUE)
    indent, below = " " * (names + values + 8), " " * (names + 6)
    lines = ["copycost doctor: what this host can and cannot measure", _LEGEND]
    told: set[str | None] = {None}
    for section, group in groupby(findings, key=lambda finding: finding.section):
        lines += ["", section]
        above = ""
        for finding in group:
            note = "(the same)" if finding.note and finding.note == above else finding.note
            above = finding.note
            head = f"  {_MARKS[finding.state]} {finding.name:<{names}}  {finding.value:<{values}}  "
            if len(head) > len(indent) and note:
                lines.append(head.rstrip())
                head = indent
            lines += _wrapped(head, note, indent, width) or [head.rstrip()]
            if finding.remedy not in told:
                told.add(finding.remedy)
                lines += _wrapped(f"{below}> ", str(finding.remedy), f"{below}  ", width)
    return "\n".join(lines) + "\n"


def _wrapped(head: str, text: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=head,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,  # a path can be copied
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the findings; exit code 0, whatever was found, but 1 for a peer out of reach."""
    parser = argparse.ArgumentParser(
        prog="./run doctor", description="Tell what this host can and cannot measure."
    )
    add = parser.add_argument
    add("--wire", metavar="USER@OTHER", help="also report on another machine and the network to it")
    add("--clean", action="store_true", help="only remove what was copied to that machine")
    options = parser.parse_args(arguments)
    if options.clean and options.wire is None:
        parser.error("--clean: needs a machine: --wire USER@OTHER")
    try:
        if options.clean:
            peer = read_peer(options.wire)
            clean(SshTarget(peer.peer, peer.ssh_options))
            print(f"copycost: removed from {options.wire}")
            return 0
        findings = judge_this() if options.wire is None else judge_peer(read_peer(options.wire))
    except CopycostError as error:
        _say(str(error))
        return 1
    columns = shutil.get_terminal_size((100, 24)).columns
    print(render(findings, max(80, min(columns, 120))), end="")
    return int((findings[0].name, findings[0].state) == ("reached", "missing"))


def judge_this() -> list[Finding]:
    """Return what is to be said of this host."""
    guests = judge_guests()
    with ThreadPoolExecutor() as pool:  # each waits for other programs, a compiler among them
        simulated = pool.submit(judge_simulation, guests)
        typesetter = pool.submit(find_typesetter)
        host = collect_host()
    return [
        *judge_host(host, HostFiles()),
        *guests,
        *simulated.result(),
        judge_typesetter(typesetter.result()),
    ]


def judge_peer(peer: Peer) -> list[Finding]:
    """Return what is to be said of another machine and the network to it."""
    this = collect_host(host=LocalHost())
    with peer_reached(peer) as (facts, other):
        return judge_wire(facts, this, other)


def read_peer(name: str, path: Path = Path("config.yaml")) -> Peer:
    """Return a machine with what a file states of it; where it names another, nothing.

    The system's Python has to be enough: without a reader of YAML nothing is stated, and that said.

    Raises ConfigError if that file, or its section `wire`, is not as it has to be.
    """
    try:
        from copycost.config.sources import DEFAULTS, merged, read_sources
    except ModuleNotFoundError:
        _say(
            f"{path} is not read before ./run setup has been here, so {name} is taken as ssh has it"
        )
        return Peer(name)
    try:
        return peer_named(name, merged(read_sources([DEFAULTS, path], {}))["wire"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{path}: wire: is not as it has to be; ./run -n says what is wrong with it"
        ) from error


def _say(sentence: str) -> None:
    print(f"copycost: {sentence}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
