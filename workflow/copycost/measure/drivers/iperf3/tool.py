"""iperf3 itself: where it is, whether its version will do, and what ``iperf3 -J`` prints.

Source: iperf3(1) and its release notes; from 3.16 on each stream has a thread of its own, before
that one thread serves all streams.

Format (iperf_api.c, JSON output): one object with `start`, `intervals` (a list; each has `streams`
and their `sum`), `end`, and `error` where something went wrong. Times are seconds since the start
of the test. Values that were divided by zero are printed as ``nan`` or ``-nan`` by some versions,
which is no JSON, and as null by others.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from copycost.errors import HostError, ParseError, Unavailable
from copycost.hosts.host import Host
from copycost.hosts.side import SideName

# -1 with -J on the server, --forceflush and whole interval data on both sides
_OLDEST = (3, 5)
_THREADED_SINCE = (3, 16)
_VERSION = re.compile(r"^iperf (\d+)\.(\d+)(\S*)", flags=re.MULTILINE)
# only outside of strings, where iperf3 never has these words as a value
_NOT_A_NUMBER = re.compile(r"(?<=[:\[,\s])-?(?:nan|inf(?:inity)?)(?=\s*[,\]}\r\n])", re.IGNORECASE)
_SHOWN_CHARACTERS = 80
_NEEDED = ("start", "end", "bytes")
_CLIENT = "the iperf3 client"
_EXPECTED = "expected the JSON of iperf3 3.5 or newer, so install a newer one"


@dataclass(frozen=True, slots=True)
class Iperf3Tool:
    """The iperf3 of this host."""

    path: str
    version: tuple[int, int]
    version_text: str

    @property
    def threaded(self) -> bool:
        """Whether each stream has a thread of its own."""
        return self.version >= _THREADED_SINCE

    def pairs(self, n_threads: int) -> tuple[int, int]:
        """Return how many process pairs carry so many streams, and the streams of each pair.

        One thread cannot use more than one CPU, so an older iperf3 gets a pair per stream.
        """
        return (1, n_threads) if self.threaded else (n_threads, 1)


def find_iperf3(host: Host) -> Iperf3Tool:
    """Return the iperf3 of a host; Unavailable if there is none, it does not run, or is too old."""
    path = host.find_tool("iperf3")
    if path is None:
        raise Unavailable("iperf3 was not found", "install the package iperf3")
    try:
        done = host.run([path, "--version"])
    except (OSError, HostError) as error:
        raise Unavailable(
            f"{path} --version does not run ({error})", "install the package iperf3 again"
        ) from error
    return judge_version(path, done.stdout)


def find_on_both(hosts: Mapping[SideName, Host]) -> dict[SideName, Iperf3Tool]:
    """Return the iperf3 of each side's machine; errors as of `find_iperf3`."""
    sender, receiver = hosts["sender"].machine, hosts["receiver"].machine
    tool = find_iperf3(sender)
    return {"sender": tool, "receiver": tool if receiver is sender else find_iperf3(receiver)}


def judge_version(path: str, text: str) -> Iperf3Tool:
    """Return the tool from what ``iperf3 --version`` printed."""
    found = _VERSION.search(text)
    remedy = f"install iperf3 {'.'.join(map(str, _OLDEST))} or newer"
    if found is None:
        said = text.strip().splitlines()[:1] or ["nothing"]
        reason = f"{path} --version printed {said[0][:80]!r}, no version of iperf 3"
        raise Unavailable(reason, remedy)
    version = (int(found[1]), int(found[2]))
    version_text = f"{found[1]}.{found[2]}{found[3]}"
    if version < _OLDEST:
        reason = f"iperf3 {version_text} is too old: its JSON lacks what is needed here"
        raise Unavailable(reason, remedy)
    return Iperf3Tool(path, version, version_text)


@dataclass(frozen=True, slots=True)
class Interval:
    """What one process counted between two moments of its test, all its streams together.

    The bytes are payload sent, or received at the server; `retransmits` counts segments, and is
    None where it is not told.
    """

    start_s: float
    end_s: float
    n_bytes: int
    retransmits: int | None

    @property
    def seconds(self) -> float:
        """Length [s]."""
        return self.end_s - self.start_s


def parse_json(text: str, what: str) -> tuple[dict[str, Any], bool]:
    """Return the object that iperf3 printed, and whether it held values that are no numbers.

    These become None. ParseError where the text is not one JSON object, say because iperf3 died
    while it wrote.
    """
    odd: list[str] = []
    repaired, n_repaired = _NOT_A_NUMBER.subn("null", text)
    try:
        content = json.loads(repaired, parse_constant=odd.append)
    except (ValueError, RecursionError) as error:
        tail = text.strip()[-_SHOWN_CHARACTERS:]
        raise ParseError(
            f"{what}: {error}; expected one JSON object, as iperf3 -J prints it; end: {tail!r}"
        ) from error
    if not isinstance(content, dict):
        raise ParseError(f"{what}: found {text[:_SHOWN_CHARACTERS]!r}, expected a JSON object")
    return content, bool(n_repaired or odd)


def intervals_of(content: Mapping[str, Any], what: str) -> tuple[Interval, ...]:
    """Return the intervals in the order of time; those with a value missing are left out.

    ParseError where there are none, or they lack a field that is needed.
    """
    found = []
    try:
        for item in content["intervals"]:
            printed = [item["sum"][key] for key in _NEEDED]
            again = item["sum"].get("retransmits")
            if None in printed:
                continue  # printed as nan
            start_s, end_s, n_bytes = (_number(value, what) for value in printed)
            retransmits = None if again is None else int(_number(again, what))
            found.append(Interval(float(start_s), float(end_s), int(n_bytes), retransmits))
    except (KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"{what}: its intervals have no {error}; {_EXPECTED}") from error
    if not content["intervals"]:
        raise ParseError(f"{what} printed no intervals; {_EXPECTED}")
    return tuple(found)


def within(intervals: Sequence[Interval], start_s: float, end_s: float) -> tuple[Interval, ...]:
    """Return the intervals that lie wholly between two moments of the test [s]."""
    return tuple(i for i in intervals if start_s <= i.start_s < i.end_s <= end_s)


def udp_totals(content: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the end of a UDP test as the client prints it, in datagrams.

    That is `sent` by the client's count, `lost` and `out_of_order` by the server's; None where this
    iperf3 does not tell, or printed no number.
    """
    try:
        end = content.get("end") or {}
        total = dict(end.get("sum") or {})
        streams = [stream.get("udp", {}).get("out_of_order") for stream in end.get("streams") or ()]
    except (TypeError, AttributeError, ValueError) as error:
        raise ParseError(f"{_CLIENT}: its end is not as it has to be: {error}") from error
    disorder = [int(_number(value, _CLIENT)) for value in streams if value is not None]
    sent, lost = (
        None if (value := total.get(name)) is None else int(_number(value, _CLIENT))
        for name in ("packets", "lost_packets")
    )
    return {"sent": sent, "lost": lost, "out_of_order": sum(disorder) if disorder else None}


def _number(value: object, what: str) -> int | float:
    """Return a count or a time, if it is a number that iperf3, with its 64 bits, can print."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1 << 64:
        return value
    raise ParseError(
        f"{what}: found {str(value)[:_SHOWN_CHARACTERS]!r}, expected a number of at most 64 bits"
    )
