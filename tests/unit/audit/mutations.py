"""Small tables, mappings and claims, and ways to spoil them: by hand, by accident, on purpose."""

import random
import re
from collections.abc import Callable

TABLES = (
    "impl,size,threads,gbps,cycles\n"
    "A1,1024,1,5.25,120400\nA1,65536,1,30.1,640200\nA2,1024,1,4.9,110300\nA2,65536,1,33.2,522100\n",
    "host;impl;size;threads;rep;latency [us];bytes;seconds;L1\n"
    "x;A1;4 KiB;1;1;2,5;1000000;0,5;2040\nx;A1;4 KiB;1;2;2,6;1010000;0,5;2101\n"
    "x;A3;4 KiB;1;1;3,5;900000;0,5;1950\ny;A3;4 KiB;2;1;3,4;905000;0,5;1933\n",
    "algorithm\tmsg size\tMB/s\tcycles_per_byte\tcopied\tcpu_time_s\n"
    "sendfile\t1000\t512.25\t1.25\t0.5\t1.5\nsplice\t1000\t640.5\t1.375\t1\t1.25\n",
)
MAPPING = """\
columns: {gbps: {is: throughput, unit: Gbit/s}, cycles: ignore}
implementations: {A1: two_copy}
constants: {duration: 2}
delimiter: comma
decimal: "."
source: {author: somebody}
host: {cpus: 8, l2_bytes: 262144}
"""
CLAIMS = """\
claims:
- claim: more
  compare: {metric: rate, implementation: A2, with: A1, is: more, from_size: 4KiB, below: less}
  threads: [1, 2]
- claim: fall
  change: {metric: cycles, from: {size: 1KiB}, to: {size: 64KiB}, is: falls, percent: 20}
  question: 2
- rank: {metric: throughput, implementation: A1, is: best}
- value: {metric: cycles, is: above, than: 5, implementations: [A1]}
  dataset: x
- measurements: {metrics: [cycles, throughput]}
- compare: {metric: throughput, implementation: A2, with: A1, is: less, at_least: 2, at_most: 3}
- compare: {metric: throughput, implementation: A2, with: A1, is: same}
- two copies are best
"""
ODD = (
    "", "0", "-1", "-0.0", "1e308", "1e400", "1e-400", "1e30", "1e-30", "9" * 5000,
    "1e" + "9" * 5000, "0e99999", "nan", "inf", "-inf", "NaN", "1,5", "1.234.567", "0x10",
    "0." + "7" * 5000,
    "64 KiB", "5 parsec", "1e5 GB/s", "true", "null", "~", "[]", "{}", "[1, [2]]", "{a: {b: c}}",
    "&a [*a]", "*a", "!!python/none", "2024-13-45", "2024-01-01", "? [x]", "'", '"', "|", ";", "\t",
    "\n", "\r", "\x00", "\x85", "\u2028", "\ufeff", "\u0661", "A1", "two_copy", "{{ 7 }}",
    "%", "a/b", "../x", "-", ".", "x" * 200, "throughput", "more", "worst", "1" * 18, "4096.5",
)  # fmt: skip

NUMBERS = (
    "0", "-1", "1", "3", "0.001", "99999", "1e6", "1e12", "1e18", "1e21", "1e-9", "1e-21", "-1e21",
    "9007199254740993", "0.1234567890123456789", "100000000000000000000000000", "1e308", "9" * 5000,
)  # fmt: skip

Mutation = Callable[[random.Random, str], str]


def _replace_word(rng: random.Random, text: str) -> str:
    """Replace what stands between two signs, such as a cell of a table or a value."""
    signs = [-1, *(i for i, sign in enumerate(text) if sign in ",;\t\n:{}[]")]
    at = rng.randrange(len(signs))
    end = signs[at + 1] if at + 1 < len(signs) else len(text)
    return text[: signs[at] + 1] + rng.choice(ODD) + text[end:]


def _replace_number(rng: random.Random, text: str) -> str:
    found = list(re.finditer(r"\b\d+([.,]\d+)?\b", text))
    if not found:
        return text
    at = rng.choice(found)
    return text[: at.start()] + rng.choice(NUMBERS) + text[at.end() :]


def _swap_words(rng: random.Random, text: str) -> str:
    first, second = sorted(rng.choices(list(re.finditer(r"[\w.]+", text)) or [None], k=2), key=str)
    if first is None or second is None:
        return text
    return text[: first.start()] + second[0] + text[first.end() :]


def _insert(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(ODD) + text[at:]


def _delete(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text))
    return text[:at] + text[at + rng.randint(1, 12) :]


def _change_sign(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text))
    return text[:at] + chr(rng.choice((*range(128), 0xB5, 0xD800 - 1, 0x1F600))) + text[at + 1 :]


def _lines(rng: random.Random, text: str) -> str:
    """Repeat, leave out or swap lines."""
    lines = text.splitlines(keepends=True)
    return "".join(rng.choices(lines, k=rng.randint(0, len(lines) + 2)))


def _column(rng: random.Random, text: str) -> str:
    """Give a whole column of a table one value."""
    delimiter = next((sign for sign in "\t;," if sign in text.partition("\n")[0]), ",")
    rows = [line.split(delimiter) for line in text.splitlines()]
    at, value = rng.randrange(max(len(rows[0]), 1)) if rows else 0, rng.choice(ODD)
    for row in rows[1:]:
        row[at : at + 1] = [value]
    return "\n".join(delimiter.join(row) for row in rows)


_MUTATIONS: tuple[Mutation, ...] = (
    *[_replace_number] * 6, *[_swap_words] * 3, *[_replace_word] * 3, _lines, _lines, _column,
    _insert, _delete, _change_sign,
)  # fmt: skip


def mutated(rng: random.Random, text: str) -> str:
    """Return a text with one or two faults."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        text = rng.choice(_MUTATIONS)(rng, text) if text else text
    return text
