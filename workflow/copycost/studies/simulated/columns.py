"""The columns of the tables of the study `simulated`.

What a model of the caches says begins with `simulated_`; nothing joins it with what was measured.
"""

from copycost.records.column import Definition, fact, grouped, number
from copycost.records.columns import OUTCOME
from copycost.studies.simulated.counts import BOTH, MODES, QUANTITIES, SIDES

CELL_KEY = ("testbed", "implementation", "msg_bytes", "working_set", "variant")
_KEY_COLUMNS = grouped(
    "Key",
    fact("testbed", "str", "", "Where the messages travel, within the guest"),
    fact("implementation", "str", "", "How they are sent"),
    fact("msg_bytes", "int64", "byte", "Size of a message"),
    fact("working_set", "str", "", "Where the bytes lie: hot or cold"),
    fact("variant", "str", "", "What is changed; plain: nothing"),
    fact("side", "str", "",
         "Whose threads: the sender's, the receiver's, others (mostly of the kernel), or the first"
         " two together", allowed=(*SIDES, BOTH)),
)  # fmt: skip

_WORDS = {
    "instructions": "Instructions; a repeated one counts once",
    "string_iterations": "Iterations of repeated instructions (rep movs and the like)",
    "loads": "Loads; QEMU 7.2 reports an AVX load as several of 8 bytes",
    "stores": "Stores; AVX stores likewise",
    "l1d_misses": "Loads and stores that missed the simulated L1 data cache",
    "l2_misses": "Those that missed the simulated L2 cache too",
    "llc_misses": "Those that missed the simulated last-level cache too",
    "l1d_load_misses": "Loads alone that missed the simulated L1 data cache",
    "l2_load_misses": "Loads alone that missed the simulated L2 cache too",
    "llc_load_misses": "Loads alone that missed the simulated last-level cache too",
    "l1d_write_backs": "Modified lines evicted from the simulated L1 data cache",
    "l2_write_backs": "Modified lines evicted from the simulated L2 cache",
    "llc_write_backs": "Modified lines evicted from the simulated last-level cache",
}
_MODES = {"user": "by the application", "kernel": "by the kernel"}
_WINDOW_COLUMNS = grouped(
    "The window",
    number("simulated_messages", "count",
           "simulated_bytes in messages; counts per message are divided by it"),
    number("simulated_bytes", "byte",
           "Bytes sent in the window, or received by the receiver; counts per byte are divided by"
           " it, and those of both are the sum of the sender's and the receiver's"),
    number("simulated_zc_completed", "count",
           "Zero-copy sends reported as completed in the window"),
    number("simulated_zc_copied", "count", "Those of them that the kernel copied after all"),
    number("simulated_line_bytes", "byte", "Size of a simulated cache line"),
)  # fmt: skip
_COUNT_COLUMNS = tuple(
    number(
        f"simulated_{quantity}_{mode}_per_{per}",
        f"1/{per}",
        f"{_WORDS[quantity]}, {_MODES[mode]}",
        group=f"Simulated counts per {per}",
    )
    for per in ("byte", "message")
    for quantity in QUANTITIES
    for mode in MODES
)

SIMULATED = Definition(
    "table of simulated counts",
    (*_KEY_COLUMNS, *OUTCOME, *_WINDOW_COLUMNS, *_COUNT_COLUMNS),
    key=(*CELL_KEY, "side"),
    sorted_by=(),
)
FUNCTIONS = Definition(
    "table of simulated counts by function",
    (
        *_KEY_COLUMNS,
        *grouped(
            "Key",
            fact("mode", "str", "", "user or kernel"),
            fact("function", "str", "", "The kernel's function; the application counts as one"),
        ),
        *grouped(
            "What it does",
            fact("category", "str", "", "What the function does (data/functions)"),
            fact("simulated_calls_per_message", "float64", "1/message",
                 "How often its first instruction ran"),
        ),
        *(
            fact(f"simulated_{quantity}_per_byte", "float64", "1/byte", _WORDS[quantity],
                 "Simulated counts per byte, of one function")
            for quantity in QUANTITIES
        ),
    ),
    key=(*CELL_KEY, "side", "mode", "function"),
    sorted_by=(),
)  # fmt: skip
"""Of the cells that could be counted, every function that ran."""
