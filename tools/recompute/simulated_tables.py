"""The tables of simulated counts, field by field against the raw records."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tools.recompute.document import Table
from tools.recompute.run import Run
from tools.recompute.simulated import LEVELS, PLAIN, Change, Copy, Key, Simulated
from tools.recompute.slots import agrees, read

Row = Mapping[str, str]
Checked = dict[str, bool | None]

COLUMNS = {"L1d": "l1d", "L2": "l2", "Last level": "llc"}
"""By the title of a column, or the start of a field, which level it is of."""
CHANGES = {
    "nothing changed": PLAIN,
    "caches of half the size": "half_caches",
    "caches of twice the size": "double_caches",
    "the next line prefetched": "next_line",
    "new pages not zeroed (`init_on_alloc=0`)": "no_zeroing",
    "copies by `rep movsb`, the kernel's instead of `rep movsq` and the C library's from 2 KiB up"
    " instead of AVX2": "rep_movsb",
    "the C library's copies by SSE2, 16 bytes at a time, instead of AVX2": "sse2",
    "another kernel": "other_kernel",
}
"""By how it is told, what was changed."""

# of what changes, a function that has less is not named where the difference is told in short
_SHARE = 0.1
# a function without a change of that many misses per line, at any level, has no row of its own
_SHOWN = 0.005
_N_ROWS = 8
# each walk goes over its buffer so often, a line at a time, through caches of these sizes
_ROUNDS = 4
_LINE_BYTES = 64
_WALKED = {"l1d": 32 << 10, "l2": 256 << 10, "llc": 2 << 20}


def saved_row(run: Run, _c: str, found: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what one way to send changes most: level, size, misses, functions; what survives."""
    counts = run.simulated
    keys = counts.keys(found[1], row["Message"], _name(row["With"]))
    most = counts.most(keys)
    if most is None or row["Level"] == "none changes":
        none = most is None and list(row.values())[2:] == ["none changes", *["---"] * 3]
        return {"Level": none}
    name, _, size = row["Level"].partition(" at ")
    told = re.findall(r"[\d.]+", row["Saved per line"])
    rises = most.saved < 0
    whole = agrees("x", told[0], abs(most.saved)) and agrees(
        "x", told[1], _before(counts, most.key, most.level)
    )
    return {
        "Level": COLUMNS[name] == most.level and run_size(keys, size) == most.key.msg_bytes,
        "Saved per line": whole and rises == ("more than" in row["Saved per line"]),
        "In which functions": _carry(counts, most.key, most.level, row["In which functions"]),
        "Holds under": row["Holds under"] == _holds(counts, most),
    }  # fmt: skip


def run_size(keys: Sequence[Key], text: str) -> int:
    """Return which of the sizes of these cells a text means."""
    return int(read("size", text, [key.msg_bytes for key in keys]))


def _before(counts: Simulated, key: Key, level: str) -> float:
    return counts.total(key.baseline, level)


def _holds(counts: Simulated, most: Change) -> str:
    """Return under how many changes the same level falls most, or where none falls, none does."""
    tried = counts.tried.get(most.key, [])
    turned = counts.turns if most.saved > 0 else counts.fails
    holding = sum(not turned(one) for one in tried)
    return f"{holding} of {len(tried)}" if tried else "not tried"


def _carry(counts: Simulated, key: Key, level: str, text: str) -> bool:
    """Tell whether a field names the functions that have a tenth of a change, with how much."""
    fewer, _, more = text.partition("more in ")
    told = {
        (name, sign): value
        for sign, part in ((1, fewer), (-1, more))
        for name, value in re.findall(r"(the application|`[^`]+`) \(([\d.]+)\)", part)
    }
    whole = abs(counts.saved(key, level))
    expected = {}
    for kernel, name in counts.functions(key):
        saved = counts.saved_in(key, level, kernel, name)
        if abs(saved) >= _SHARE * whole:
            title = f"`{name}`" if kernel else "the application"
            expected[title, 1 if saved > 0 else -1] = abs(saved)
    return told.keys() == expected.keys() and all(
        agrees("x", told[one], expected[one]) for one in told
    )


def reasons_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what the level that falls most misses of the copies that are saved, and why."""
    counts = run.simulated
    testbed, working_set = re.findall(r"`(\w+)`, (hot|cold)", row["Where"])[0]
    keys = counts.keys(testbed, working_set, _name(row["With"]))
    most = counts.most(keys)
    assert most is not None
    name, _, size = row["Level"].partition(" at ")
    return {
        "Level": most.saved > 0
        and COLUMNS[name] == most.level
        and run_size(keys, size) == most.key.msg_bytes,
        "Of the application's copy": _why(counts, most, False, row["Of the application's copy"]),
        "Of the kernel's copies": _why(counts, most, True, row["Of the kernel's copies"]),
    }


def _why(counts: Simulated, most: Change, kernel: bool, text: str) -> bool:
    """Tell whether a field says what of one's copies the level misses, and why."""
    copy = counts.copy(most.key, most.level, kernel)
    if copy.saved < _SHARE * most.saved:
        return text == "---"
    size = re.search(r"exceed|fit into", text) and re.findall(r"\d[\d.]* [KM]iB", text)
    if size and read("size", size[0]) != counts.caches[most.level]["size_bytes"]:
        return False
    return _missed(text) == (copy.source, copy.target) and reasons(text) == expected(copy)


def _missed(text: str) -> tuple[bool, bool]:
    """Return whether a field says that the source is missed, and the target."""
    if text == "found, for the most part":
        return False, False
    if text.startswith("both") or "; both" in text:
        return True, True
    return text.startswith("source"), "target" in text


def reasons(text: str) -> set[str]:
    """Return the reasons that a text gives for what a copy misses."""
    words = {"from memory": "memory", "exceed": "large", "displace": "displaced"}
    return {reason for word, reason in words.items() if word in text}


def expected(copy: Copy) -> set[str]:
    """Return the reasons that there are."""
    others = {"large" if copy.large else "displaced"} if copy.other else set()
    return others | ({"memory"} if copy.memory else set())


def levels_row(run: Run, _c: str, found: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check the misses of every way to send at one size."""
    counts = run.simulated
    here = [key for key in counts.cells if key[:2] == (found[1], found[2]) and key.variant == PLAIN]
    size = run_size(here, row["Size"])
    checked: Checked = {"Size": any(key.msg_bytes == size for key in here)}
    for title, text in row.items():
        if title.startswith("`"):
            key = Key(found[1], found[2], _name(title), size)
            known = [counts.total(key, level) for level in LEVELS.values()]
            checked[title] = three(text, known)
    return checked


def instructions_row(run: Run, _c: str, found: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check the instructions per message of every way to send, the application's / the kernel's."""
    counts = run.simulated
    here = [key for key in counts.cells if key.testbed == found[1] and key.variant == PLAIN]
    size = run_size(here, row["Size"])
    checked: Checked = {"Size": any(key.msg_bytes == size for key in here)}
    for title, text in row.items():
        if title.startswith("`"):
            key = Key(found[1], row["Message"], _name(title), size)
            known = [counts.instructions[key][kernel] for kernel in (False, True)]
            checked[title] = text == " / ".join(f"{n:,.0f}" for n in known)
    return checked


def three(text: str, expected: Sequence[float]) -> bool:
    """Tell whether a field shows a value of each level: ``2.02 / 0.00 / 0.00``."""
    told = text.replace("\\*", "").split(" / ")
    return len(told) == len(expected) and all(
        agrees("x", one, value) for one, value in zip(told, expected, strict=True)
    )


def functions_row(run: Run, _c: str, found: re.Match[str], row: Row, table: Table) -> Checked:
    """Check one function's misses before and after, or those of all that have no row."""
    counts = run.simulated
    most = counts.most(counts.keys(found[1], found[2], found[3].replace("-", "_")))
    assert most is not None
    key, level = most.key, most.level
    size = re.findall(r" at (\S+ [KM]?i?B): ", table.caption)[0]
    named = {_function(one[0]) for one in table.rows if "other function" not in one[0]}
    every = counts.functions(key)
    if "other function" in row["Function"]:
        rest = every - named
        shown = [name for name in every if name in named]
        changes = {name: abs(counts.saved_in(key, level, *name)) for name in every}
        large = {name for name in every if counts.changes(key, *name) >= _SHOWN}
        right = row["Function"].split()[0] == str(len(rest)) and len(shown) == len(named)
        # what has a row is what changes, up to so many, and the largest changes first
        right &= named <= large and len(named) == min(len(large), _N_ROWS)
        right &= all(
            changes[one] <= min(map(changes.__getitem__, named), default=0.0) + 1e-9
            for one in rest & large
        )
    else:
        rest, right = {_function(row["Function"])}, _function(row["Function"]) in every
    right &= run_size([key], size) == key.msg_bytes
    checked: Checked = {"Function": right}
    for title, each in COLUMNS.items():
        before, after = (
            sum(counts.cells[one].get((each, *name), 0.0) for name in rest)
            for one in (key.baseline, key)
        )
        ends = row[title].split(" \N{RIGHTWARDS ARROW} ")
        checked[title] = right and agrees("x", ends[0], before) and agrees("x", ends[-1], after)
    return checked


def _function(text: str) -> tuple[bool, str]:
    """Return whose function a field names: the application is one."""
    return (False, "user") if text == "the application" else (True, text.strip("`"))


def changed_row(run: Run, _c: str, found: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check what is saved with one thing changed, and the marks of what does not hold."""
    counts = run.simulated
    variant = CHANGES[row["With"]]
    checked: Checked = {"With": True}
    for title, text in row.items():
        if title == "With":
            continue
        name, size = title.split(", ")
        here = counts.keys(found[1], found[2], _name(name))
        plain = next(key for key in here if key.msg_bytes == run_size(here, size))
        key = plain._replace(variant=variant)
        if key != plain and key not in counts.tried[plain]:
            checked[title] = text == ""
            continue
        marks = "" if key == plain or not counts.fails(key) else "\\*"
        marks += marks if key != plain and counts.turns(key) else ""
        saved = [counts.saved(key, level) for level in LEVELS.values()]
        checked[title] = three(text, saved) and "".join(re.findall(r"\\\*", text)) == marks
    return checked


def walk_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check the lines that a walk misses: as its size says, and as they were counted."""
    n_bytes = int(read("size", row["Buffer"]))
    walk = next(
        one
        for one in run.simulated.walks
        if (one["pattern"], one["bytes"]) == (row["Walk"], n_bytes)
    )
    checked: Checked = {"Buffer": True, "Lines": row["Lines"] == f"{lines_of(walk):,}"}
    for title, level in COLUMNS.items():
        known, counted = (_lines(walk, one) for one in both_of(walk, level))
        arrow = f"{known} \N{RIGHTWARDS ARROW} {counted}"
        checked[title] = row[title] == (known if known == counted else arrow)
    return checked


def lines_of(walk: Mapping[str, Any]) -> int:
    """Return how many lines a walk touches."""
    return int(walk["bytes"]) // _LINE_BYTES * _ROUNDS


def both_of(walk: Mapping[str, Any], level: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return what a level has to miss, and what was counted: in all, and by stores."""
    missed = lines_of(walk) if walk["bytes"] > _WALKED[level] else 0
    stores = missed // 2 if walk["pattern"] == "copy" else 0
    counted = next(one["counted"] for one in walk["levels"] if one["level"] == level)
    return (missed, stores), (counted["misses"], counted["store_misses"])


def _lines(walk: Mapping[str, Any], lines: tuple[int, int]) -> str:
    shown = lines if walk["pattern"] == "copy" else lines[:1]
    return " / ".join(f"{n:,}" for n in shown)


def beside_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check a cell's simulated misses of loads beside those that were counted."""
    counts = run.simulated
    testbed, working_set = re.findall(r"`(\w+)`, (hot|cold)", row["Where"])[0]
    here = counts.keys(testbed, working_set, _name(row["With"]))
    key = next(one for one in here if one.msg_bytes == run_size(here, row["Size"]))
    simulated, counted = beside(run, key, COLUMNS[row["Level"]])
    return {
        "Size": True,
        "Simulated": agrees("x", row["Simulated"], simulated),
        "Counted": agrees("x", row["Counted"], counted),
        "Ratio": agrees("x", row["Ratio"], simulated / counted),
    }


def beside(run: Run, key: Key, level: str) -> tuple[float, float]:
    """Return the misses of loads per line, simulated and counted by the processor."""
    loads = run.simulated.loads[key]
    simulated = sum(by for at, by in loads.items() if at[0] == level)
    metric = f"{run.side(key.testbed)}_{level}_load_misses_per_byte"
    counted = run.median(condition_of(key), key.implementation, (key.msg_bytes, 1), metric)
    return simulated, counted.value * run.simulated.caches["line_bytes"]


def condition_of(key: Key) -> str:
    """Return the condition of the measured run that a cell stands beside."""
    return key.testbed if key.working_set == "hot" else f"{key.testbed}_{key.working_set}"


def missing_row(run: Run, _c: str, _f: re.Match[str], row: Row, _t: Table) -> Checked:
    """Check how many cells gave no value for one reason, and of which sizes."""
    reason = row["Reason, and what helps"].replace("\\", "")
    lost = [
        one["cell"]
        for one in run.simulated.lost
        if one["status"] == row["What"] and reason.startswith(one["reason"])
    ]
    sizes = tuple(sorted({cell["msg_bytes"] for cell in lost}))
    return {
        "Number": row["Number"] == str(len(lost)),
        "Sizes": read("sizes", row["Sizes"], sizes) == sizes,
    }


def _name(text: str) -> str:
    return text.strip("`")


TABLES: dict[str, Callable[..., Checked]] = {
    r"tbl-simulated-saved-(\w+)": saved_row,
    r"tbl-simulated-reasons": reasons_row,
    r"tbl-simulated-instructions-(\w+)": instructions_row,
    r"tbl-simulated-levels-(\w+)-(hot|cold)": levels_row,
    r"tbl-simulated-changed-(\w+)-(hot|cold)": changed_row,
    r"tbl-simulated-walks": walk_row,
    r"tbl-simulated-beside": beside_row,
    r"tbl-simulated-missing": missing_row,
    r"tbl-simulated-(\w+)-(hot|cold)-([\w-]+)": functions_row,
}
"""By the id of a table, what checks one of its rows."""
