"""The conditions of a run: what was measured under each, in the order of the config."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.config.conditions import COLD, HOT, RECV, Condition
from copycost.config.testbeds import APART, PLACEMENTS, kernels_on, path_of
from copycost.records.cpu_attribution import EMULATED
from copycost.wording.numbers import format_size

KEYS = ["condition", "testbed", "working_set", "receiver", "placement"]
"""Columns that tell the condition of a row; the first follows from the others."""

POINT = ["implementation", "msg_bytes", "n_threads"]
"""Columns that name a cell under one condition."""

CELL = ["study", *KEYS, *POINT]
"""Columns that name a cell."""


def with_condition(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of cells with the columns of its condition.

    A table from elsewhere, or one older than these columns, lacks some: then one message was sent
    again and again and received plainly, where both ends ran is not told, and the condition is the
    testbed.
    """
    if set(KEYS) <= set(table):
        return table
    usual = {"working_set": HOT, "receiver": RECV, "placement": APART}
    full = table.assign(**{name: value for name, value in usual.items() if name not in table})
    parts = full[KEYS[1:]].astype(str)
    names = {row: Condition(*row).slug for row in set(parts.itertuples(index=False, name=None))}
    slugs = [names[row] for row in parts.itertuples(index=False, name=None)]
    return full.assign(condition=slugs)


@dataclass(frozen=True)
class Studied:
    """A condition and the grid that was meant to be measured under it."""

    condition: Condition
    sender_only: bool
    """Whether a byte's cost is the sender's alone, since nobody receives."""
    implementations: tuple[str, ...]
    """In the order of the config."""
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    """Thread counts, and above sizes [bytes], that every implementation was meant to have,
    ascending.
    """
    accelerator: str | None = None
    """What runs the guests: ``kvm``, or ``tcg``, an emulator; None where nothing tells."""

    @property
    def name(self) -> str:
        """Return its slug."""
        return self.condition.slug

    @property
    def guests(self) -> int:
        """Return in how many virtual machines its ends run; 0 in none."""
        return self.condition.guests

    @property
    def emulated(self) -> bool:
        """Tell whether an emulator runs the guests' instructions, and no processor."""
        return self.accelerator == EMULATED

    @property
    def label(self) -> str:
        """Return it as a heading or a legend has it: ``sink, cold``, ``vm_pair, emulated``."""
        words = [self.condition.testbed]
        if self.emulated:
            words.append("emulated")
        if self.condition.working_set == COLD:
            words.append("cold")
        elif self.condition.working_set != HOT:
            words.append(f"ring of {format_size(int(self.condition.working_set))}")
        if self.condition.receiver != RECV:
            words.append(f"receiver {self.condition.receiver}")
        if self.condition.placement != APART:
            words.append(PLACEMENTS[self.condition.placement])
        return ", ".join(words)

    def facts(self) -> Facts:
        """Return what it is, and its grid, for the facts."""
        condition = self.condition
        return {
            "slug": self.name,
            "label": self.label,
            "testbed": condition.testbed,
            "path": path_of(condition.testbed),
            "working_set": condition.working_set,
            "receiver": condition.receiver,
            "placement": condition.placement,
            "transport": condition.transport,
            "sender_only": self.sender_only,
            "guests": self.guests,
            "kernels": kernels_on(condition.testbed),
            "emulated": self.emulated,
            "grid": {
                "implementations": list(self.implementations),
                "msg_bytes": list(self.msg_bytes),
                "n_threads": list(self.n_threads),
            },
        }


def stream_sections(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the sections of a configuration, in the words of config.yaml, that ask for streams."""
    return [config[name] for name in ("streams", "udp") if name in config]


def studied_conditions(
    sections: Iterable[Mapping[str, Any]], cells: pd.DataFrame
) -> tuple[Studied, ...]:
    """Return the conditions that a table has rows of, in the order of sections of the config.

    The table is one `with_condition`. Cells that cannot exist have no row, so what was meant to be
    measured is what the config and the table agree on.
    """
    by_condition = dict(list(cells.groupby("condition", sort=False)))
    found: list[Studied] = []
    for section in sections:
        # one made for a foreign table lacks what is usual
        places = itertools.product(
            section["testbeds"],
            map(str, section.get("working_sets", (HOT,))),
            section.get("receivers", (RECV,)),
            section.get("placements", (APART,)),
        )
        for condition in itertools.starmap(Condition, places):
            rows = by_condition.pop(condition.slug, None)
            if rows is None:
                continue
            there = set(rows["implementation"])
            found.append(
                Studied(
                    condition,
                    is_sender_only(condition, rows),
                    tuple(name for name in section["implementations"] if name in there),
                    tuple(sorted(int(size) for size in section["msg_bytes"])),
                    tuple(sorted(int(count) for count in section["n_threads"])),
                    accelerator_of(rows),
                )
            )
    return tuple(found)


def accelerator_of(rows: pd.DataFrame) -> str | None:
    """Return what runs the guests in rows of a table; None where nothing tells, or several do."""
    if "accelerator" not in rows:
        return None
    found = {str(name) for name in rows["accelerator"].dropna() if name != ""}
    return found.pop() if len(found) == 1 else None


def is_sender_only(condition: Condition, rows: pd.DataFrame) -> bool:
    """Tell whether only the sender's cost can be told.

    A foreign table may call anything "sink"; one that has the costs of both sides has a receiver.
    """
    return condition.sender_only and bool(rows["both_cpu_ns_per_byte"].isna().all())
