"""What this machine's programs and devices mean for measuring in guests."""

import re
from collections.abc import Iterator, Sequence

from copycost.doctor.finding import Finding, State
from copycost.hosts.guest.needs import Need

_SECTION = "Virtual machines"


def judge_guests(needs: Sequence[Need]) -> Iterator[Finding]:
    """Yield the findings about guests; without what they cannot do without, they are missing."""
    for need in needs:
        if need.found is not None:
            yield Finding(_SECTION, need.name, "ok", _short(need.found), need.use)
        else:
            note = f"{need.reason}; it {need.use}" if need.reason else need.use
            state: State = "missing" if need.necessary else "limited"
            yield Finding(_SECTION, need.name, state, "missing", note, need.remedy)


def _short(found: str) -> str:
    """Return the number of a version line, such as ``QEMU emulator version 7.2.22 (...)``."""
    match = re.search(r"version (\d+(?:\.\d+)+)", found)
    return match[1] if match else found
