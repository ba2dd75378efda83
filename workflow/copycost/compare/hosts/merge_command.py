"""The command ``merge``: results of other hosts in; tables and a report over all hosts out."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from copycost.compare.hosts.host_results import FLEET, read_sets
from copycost.compare.hosts.import_archive import read_parcel
from copycost.compare.hosts.merging import Merged, merge
from copycost.compare.hosts.privacy import RULE, require_name
from copycost.errors import CopycostError
from copycost.report.typeset import FORMATS, Format
from copycost.wording.filters import join_and
from copycost.wording.words import plural

HELP = "add the results of other hosts, for one report over all"

DESCRIPTION = """\
Add results of other hosts to a fleet: archives that ./run export has written there, or folders of
results. They are read as data and checked; what is damaged, or of another version, is refused. The
report over all hosts, and their tables, are written into the fleet's folder."""

EPILOG = f"""\
NAME=FILE names the host: {RULE}.

A host that was merged before gets what is new. Results of another run of the same host come as
further repetitions. Where the kernel, processor or limits are others now, that is another state of
the host, beside the old one; whether it is that host, the archive alone does not prove. So it takes
NAME=FILE or --update, as it does where records would take the place of what another source brought.

Exit status: 0 merged, 1 an error, or something was refused (the rest is merged), 2 wrong usage."""

_NAMED = re.compile(r"(?P<name>[^/=]*)=(?P<path>.*)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    add = parser.add_argument
    add("sources", nargs="*", metavar="[NAME=]FILE",
        help="archives, or folders of results; none writes the report anew")  # fmt: skip
    add("--update", action="store_true",
        help="the sources are of the hosts of their names, which may have changed")  # fmt: skip
    add("--into", type=Path, default=FLEET, metavar="FOLDER", help=f"default: {FLEET}")
    add("--formats", nargs="+", choices=FORMATS, default=list(FORMATS), help="default: both")
    add("--no-report", action="store_true", help="only merge")


def run(options: argparse.Namespace) -> int:
    """Merge what can be, say what became of each, and name what was refused."""
    sources: list[tuple[str | None, Path]] = []
    for text in options.sources:
        match = _NAMED.fullmatch(text)
        if match is None or Path(text).exists():
            sources.append((None, Path(text)))
        else:
            sources.append((require_name(match["name"], text), Path(match["path"])))
    refused = merge_all(sources, options.into, update=options.update)
    if not options.no_report and (read_sets(options.into)[0] or not options.sources):
        report(options.into, options.formats)
    return 1 if refused else 0


def report(fleet: Path, formats: Sequence[Format]) -> None:
    """Make the tables of all hosts and the report over them, and print what it says in short."""
    # Imported here: what is wrong with a source is said before figures and typesetting are loaded.
    from copycost.compare.hosts import report as written
    from copycost.compare.hosts.fleet import gather

    facts = written.write_tables(gather(fleet), fleet)
    print("\n".join(written.summary_lines(facts)))
    for path in written.write_report(facts, fleet, formats):
        print(f"report: {path}")


def merge_all(
    sources: Sequence[tuple[str | None, Path]], fleet: Path, *, update: bool = False
) -> int:
    """Merge sources, each with the name of its host if it has one; return how many were refused.

    With `update`, sources are those hosts of the fleet that they say they are.
    """
    refused = []
    for name, path in sources:
        try:
            merged = merge(read_parcel(path, name), fleet, update=update)
        except CopycostError as error:
            refused.append(str(error))
        else:
            print(f"{path}: {said_of(merged)}")
    for sentence in refused:
        print(f"copycost: {sentence}", file=sys.stderr)
    if refused:
        print(f"copycost: {plural(len(refused), 'source')} of {len(sources)} not merged; ask for"
              " what is damaged again, as ./run export writes it", file=sys.stderr)  # fmt: skip
    return len(refused)


def said_of(merged: Merged) -> str:
    """Return what became of the results of one host."""
    parts = [f"{plural(merged.n_added, 'record')} new"] if merged.n_added else []
    if merged.n_replaced:
        parts.append(f"{merged.n_replaced} measured anew")
    if merged.n_known:
        parts.append(f"{merged.n_known} known")
    said = f"{merged.into.name}, {join_and(parts)}"
    if merged.is_further_run:
        said += ", as a further run of the host already there"
    if merged.is_new_state:
        said += f"; another state of {merged.into.host}: {'; '.join(merged.into.changes)}"
    return said
