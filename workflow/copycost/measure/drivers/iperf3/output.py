"""Parse what ``iperf3 -J`` prints, from 3.5 on, with the faults that it is known for.

Format (iperf_api.c, JSON output): one object with `start`, `intervals` (a list; each has `streams`
and their `sum`), `end`, and `error` where something went wrong. Times are seconds since the start
of the test. Values that were divided by zero are printed as ``nan`` or ``-nan`` by some versions,
which is no JSON, and as null by others.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from copycost.errors import ParseError

# only outside of strings, where iperf3 never has these words as a value
_NOT_A_NUMBER = re.compile(r"(?<=[:\[,\s])-?(?:nan|inf(?:inity)?)(?=\s*[,\]}\r\n])", re.IGNORECASE)
_SHOWN_CHARACTERS = 80
_NEEDED = ("start", "end", "bytes")


@dataclass(frozen=True, slots=True)
class Interval:
    """What one process counted between two moments of its test, all its streams together.

    The bytes are payload sent, or received at the server; the datagrams are those sent, at the
    server those that it knows of, lost ones included; `lost` is by the server's count of sequence
    numbers; `retransmits` counts segments. None where it is not told.
    """

    start_s: float
    end_s: float
    n_bytes: int
    datagrams: int | None
    lost: int | None
    retransmits: int | None

    @property
    def seconds(self) -> float:
        """Length [s]."""
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True)
class UdpTotals:
    """The end of a UDP test: sent by the client's count, lost by the server's.

    Each is None where this iperf3 does not tell, or printed no number.
    """

    sent: int | None
    lost: int | None
    lost_percent: float | None
    out_of_order: int | None


def parse_json(text: str, what: str) -> tuple[dict[str, Any], bool]:
    """Return the object that iperf3 printed, and whether it held values that are no numbers.

    These become None. ParseError where the text is not one JSON object, say because iperf3 died
    while it wrote.
    """
    odd: list[str] = []

    def constant(word: str) -> None:
        odd.append(word)

    repaired, n_repaired = _NOT_A_NUMBER.subn("null", text)
    try:
        content = json.loads(repaired, parse_constant=constant)
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

    ParseError where they lack a field that is needed, as in versions that are too old.
    """
    intervals = content.get("intervals")
    if not isinstance(intervals, list) or not intervals:
        raise _lacking(content, what, "intervals")
    found = []
    for number, item in enumerate(intervals):
        total = item.get("sum") if isinstance(item, Mapping) else None
        if not isinstance(total, Mapping):
            raise _lacking(content, what, f"intervals[{number}].sum")
        if lacking := [key for key in _NEEDED if key not in total]:
            raise _lacking(content, what, f"intervals[{number}].sum.{lacking[0]}")
        if any(total[key] is None for key in _NEEDED):
            continue  # printed as nan
        start_s, end_s, n_bytes = (_number(total[key], what) for key in _NEEDED)
        counts = (_int(total, key, what) for key in ("packets", "lost_packets", "retransmits"))
        found.append(Interval(float(start_s), float(end_s), int(n_bytes), *counts))
    return tuple(found)


def within(intervals: Sequence[Interval], start_s: float, end_s: float) -> tuple[Interval, ...]:
    """Return the intervals that lie wholly between two moments of the test [s]."""
    return tuple(i for i in intervals if start_s <= i.start_s < i.end_s <= end_s)


def udp_totals(content: Mapping[str, Any]) -> UdpTotals:
    """Return the end of a UDP test as the client prints it."""
    end = content.get("end")
    total = end.get("sum") if isinstance(end, Mapping) else None
    if not isinstance(total, Mapping):
        return UdpTotals(None, None, None, None)
    streams = cast("Mapping[str, Any]", end).get("streams")
    disorder = [
        _int(stream["udp"], "out_of_order", "the iperf3 client")
        for stream in (streams if isinstance(streams, list) else ())
        if isinstance(stream, Mapping) and isinstance(stream.get("udp"), Mapping)
    ]
    known = [value for value in disorder if value is not None]
    percent = total.get("lost_percent")
    return UdpTotals(
        _int(total, "packets", "the iperf3 client"),
        _int(total, "lost_packets", "the iperf3 client"),
        None if percent is None else float(_number(percent, "the iperf3 client")),
        sum(known) if known else None,
    )


def _int(content: Mapping[str, Any], key: str, what: str) -> int | None:
    value = content.get(key)
    return None if value is None else int(_number(value, what))


def _number(value: object, what: str) -> int | float:
    """Return a count or a time, if it is a number that iperf3, which counts in 64 bits, can print.

    The count of lost datagrams may be negative: one that comes late is taken off.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1 << 64:
        return value
    raise ParseError(
        f"{what}: found {str(value)[:_SHOWN_CHARACTERS]!r}, expected a number of at most 64 bits"
    )


def _lacking(content: Mapping[str, Any], what: str, key: str) -> ParseError:
    start = content.get("start")
    version = start.get("version") if isinstance(start, Mapping) else None
    return ParseError(
        f"{what}: {version or 'an unnamed version'} printed no {key}; expected the JSON of"
        " iperf3 3.5 or newer, so install a newer one"
    )
