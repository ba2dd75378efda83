"""Instructions per message, the application's and the kernel's."""

from collections.abc import Sequence

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.grid.variants import PLAIN
from copycost.studies.simulated.counts import BOTH, MODES

_WAYS = ("one_copy", "zero_copy")


def instructions_facts(table: pd.DataFrame) -> list[Facts]:
    """Return the instructions per message of every plain cell, both sides' threads together.

    Keys
    ----
    testbed, working_set, implementation, msg_bytes
        Which cell.
    user, kernel
        Instructions [1/message]; a repeated one counts once.

    Parameters
    ----------
    table
        As `copycost.studies.simulated.columns` defines it.
    """
    counted = table[
        (table["status"] == "measured") & (table["side"] == BOTH) & (table["variant"] == PLAIN)
    ]
    cell = ("testbed", "working_set", "implementation", "msg_bytes")
    return [
        {name: row[name] for name in cell}
        | {mode: float(row[f"simulated_instructions_{mode}_per_message"]) for mode in MODES}
        for row in counted.to_dict("records")
    ]


def zero_copy_prices(instructions: Sequence[Facts]) -> list[Facts]:
    """Return what asking for zero-copy costs the kernel, where the application does the same.

    Keys
    ----
    testbed, working_set
        Where: a testbed's first working set, since instructions hardly depend on where bytes lie.
    prices
        At the smallest and the largest size that both were counted at (one of them where these are
        one): `msg_bytes`, and `ratio`, the kernel's instructions per message with `zero_copy` over
        those with `one_copy`.

    Parameters
    ----------
    instructions
        As `instructions_facts` says.
    """
    found: dict[str, Facts] = {}
    for testbed, working_set in dict.fromkeys(
        (one["testbed"], one["working_set"]) for one in instructions
    ):
        less, more = (
            {
                one["msg_bytes"]: one["kernel"]
                for one in instructions
                if (one["testbed"], one["working_set"], one["implementation"])
                == (testbed, working_set, way)
            }
            for way in _WAYS
        )
        if both := sorted(less.keys() & more.keys()):
            prices = [
                {"msg_bytes": size, "ratio": more[size] / less[size]}
                for size in sorted({both[0], both[-1]})
            ]
            where = {"testbed": testbed, "working_set": working_set}
            found.setdefault(testbed, where | {"prices": prices})
    return list(found.values())
