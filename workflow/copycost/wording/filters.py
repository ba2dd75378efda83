"""Numbers and lists as a careful person writes them. The only place where anything is rounded.

Every filter takes SI values as `facts.json` holds them and refuses what is no number: a text that
would print "nan" stops the build instead.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from copycost.wording.number_sources import prints
from copycost.wording.numbers import NBSP, finite, format_percent, format_size
from copycost.wording.words import agree, count, counted, item, one_line, paragraph, plural

# Beyond this factor between its ends, an interval says how little is known rather than where.
VAGUE_FACTOR = 20.0


@prints
def significant(value: float, digits: int = 3) -> str:
    """Return a number with `digits` significant digits and no exponent: 0.3094 is ``0.309``.

    A negative one has a minus sign, which no typesetter takes for a hyphen.
    """
    number = finite(value)
    if number == 0.0:
        return "0"
    if number < 0.0:
        return f"\N{MINUS SIGN}{significant(-number, digits)}"
    rounded = f"{number:.{digits - 1}e}"
    decimals = digits - 1 - int(rounded.partition("e")[2])
    return f"{float(rounded):.{max(decimals, 0)}f}"


@prints
def number(value: float) -> str:
    """Return a plain number with two significant digits, without a needless ``.0``."""
    return significant(value, 2).removesuffix(".0")


@prints
def gbps(bits_per_s: float, digits: int = 3) -> str:
    """Return a rate given in bit/s: 38.2e9 is ``38.2 Gbit/s``, 45e6 is ``45.0 Mbit/s``."""
    rate = finite(bits_per_s)
    if 0.0 < abs(rate) < 1e8:
        return f"{significant(rate / 1e6, digits)}{NBSP}Mbit/s"
    return f"{significant(rate / 1e9, digits)}{NBSP}Gbit/s"


@prints
def gbit(bits_per_s: float) -> str:
    """Return a rate for a column whose title has the unit, Gbit/s: 38.2e9 is ``38.2``."""
    return significant(finite(bits_per_s) / 1e9)


@prints
def cpu(percent_of_one: float) -> str:
    """Return a CPU use given in percent of one CPU: ``98.9 %``."""
    return f"{significant(percent_of_one)}{NBSP}%"


@prints
def exact_size(n_bytes: int) -> str:
    """Return a size to the byte: ``16 KiB``, ``1472 B``, ``65,507 B``."""
    text = format_size(n_bytes).replace(" ", NBSP)
    is_long = n_bytes >= 10_000 and text.endswith(f"{NBSP}B")
    return f"{n_bytes:,}{NBSP}B" if is_long else text


@prints
def size(n_bytes: float) -> str:
    """Return a size: a whole number to the byte, ``65,507 B``; an estimated one ``23 KiB``.

    A size that was measured is whole, and so reads as itself.
    """
    number = finite(n_bytes)
    if number.is_integer():
        return exact_size(int(number))
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= factor:
            scaled = number / factor
            return f"{significant(scaled, 2 if scaled < 100 else 3)}{NBSP}{unit}"
    return f"{number:.0f}{NBSP}B"


@prints
def duration(seconds: float) -> str:
    """Return a time given in seconds: ``812 ns``, ``1.30 µs``, ``0.200 s``, ``4 min 12 s``."""
    time_s = finite(seconds)
    if round(time_s) >= 3600:
        minutes = round(time_s / 60)
        return f"{minutes // 60}{NBSP}h {minutes % 60}{NBSP}min"
    if time_s >= 100:
        whole = round(time_s)
        return f"{whole // 60}{NBSP}min {whole % 60}{NBSP}s"
    if time_s >= 0.1 or time_s == 0.0:
        return f"{significant(time_s, 2 if time_s < 10 else 3)}{NBSP}s"
    for factor, unit in ((1e-3, "ms"), (1e-6, "µs")):
        if time_s >= factor:
            return f"{significant(time_s / factor)}{NBSP}{unit}"
    return f"{significant(time_s / 1e-9)}{NBSP}ns"


@prints
def ns(nanoseconds: float) -> str:
    """Return a time given in nanoseconds, in the unit that suits it."""
    return duration(finite(nanoseconds) * 1e-9)


@prints
def us(microseconds: float) -> str:
    """Return a time given in microseconds, in the unit that suits it."""
    return duration(finite(microseconds) * 1e-6)


@prints
def percent(share: float) -> str:
    """Return a share (1 = all) in percent, without rounding a rest away: see `format_percent`."""
    return format_percent(finite(share))


@prints
def ratio(value: float) -> str:
    """Return a ratio: ``1.42``, ``0.71``, ``12.5``."""
    number = finite(value)
    if number < 0.1:
        return significant(number, 2)
    return f"{number:.2f}" if number < 10 else significant(number)


def span(low: float, high: float, form: Callable[[float], str] = ratio, word: str = "to") -> str:
    """Return two values as ``1.30 to 1.55`` or ``5.2 to 14 KiB``; one where both read the same."""
    first, last = form(low), form(high)
    if first == last:
        return first
    unit = last.partition(NBSP)[2]
    if unit and first.endswith(f"{NBSP}{unit}"):
        first = first.removesuffix(f"{NBSP}{unit}")
    return f"{first} {word} {last}"


def interval_of(found: Mapping[str, Any], confidence: float) -> str:
    """Return the interval of a value of the facts: ``(95 % interval 1.30 to 1.55)``.

    One whose ends lie far apart, as two or three restless repetitions give, is no interval to a
    reader, and its many digits would read as knowledge.
    """
    low, high = found["low"], found["high"]
    if low is None or high is None:
        return "(observed once, no interval)"
    if finite(low) > 0.0 and finite(high) / finite(low) > VAGUE_FACTOR:
        return "(too uncertain for an interval)"
    return f"({percent(confidence)} interval {span(low, high)})"


def join_and(items: Iterable[object], word: str = "and") -> str:
    """Return items as a list in a sentence: ``1, 2 and 4``."""
    texts = [str(item) for item in items]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def sizes(values: Iterable[int], word: str = "and") -> str:
    """Return sizes as a list in a sentence: ``1 KiB, 4 KiB and 64 KiB``."""
    return join_and((size(value) for value in values), word)


def n_threads(values: Sequence[int]) -> str:
    """Return thread counts with their noun: ``1 thread``, ``1, 2 and 4 threads``."""
    noun = "thread" if list(values) == [1] else "threads"
    return f"{join_and(values)} {noun}"


def impl(name: str) -> str:
    """Return an implementation's name as the tables and the config write it."""
    return f"`{name}`"


def sentence(text: str) -> str:
    """Return a text with its first letter as a capital, the rest untouched."""
    return text[:1].upper() + text[1:]


FILTERS: dict[str, Callable[..., str]] = {
    form.__name__: form
    for form in (
        significant, number, gbps, gbit, cpu, exact_size, size, sizes, duration, ns, us,
        percent, ratio, interval_of, count, plural, counted, agree, join_and, n_threads, impl,
        sentence, one_line, item, paragraph,
    )
}  # fmt: skip
"""Every filter by its name."""

_MEANINGS = {
    "foreign_load": "other programs used CPUs",
    "steal": "the hypervisor took CPU time away",
    "throttled": "the CPU lowered its clock",
    "window_edge_late": "an edge of the window came late",
    "few_messages": "few messages fell into the window",
    "lock_waited": "another measurement had to be waited for",
    "user_mode_only": "counters saw user mode only",
    "sink_loss": "datagrams were lost before the hook that drops them",
    "odd_numbers": "bytes and messages, or CPU time and window, were read at two moments",
    "unknown_peers": "somebody else came to the port of the measurement",
}


def warnings(counts: Mapping[str, int]) -> str:
    """Return warnings with their repetitions: ``the CPU lowered its clock (3) and ...``."""
    return join_and(f"{_MEANINGS.get(code, f'`{code}`')} ({n})" for code, n in counts.items())
