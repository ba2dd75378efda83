"""Instructions per message, the application's and the kernel's."""

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.grid.variants import PLAIN
from copycost.studies.simulated.counts import BOTH, MODES


def instructions_facts(table: pd.DataFrame) -> list[Facts]:
    """Return the instructions per message, both sides' threads together, with nothing changed.

    Of a testbed's first working set, since they hardly depend on where bytes lie.

    Keys
    ----
    testbed, implementation, msg_bytes
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
    first = counted.groupby("testbed")["working_set"].transform("first")
    counted = counted[counted["working_set"] == first]
    cell = ("testbed", "implementation", "msg_bytes")
    return [
        {name: row[name] for name in cell}
        | {mode: float(row[f"simulated_instructions_{mode}_per_message"]) for mode in MODES}
        for row in counted.to_dict("records")
    ]
