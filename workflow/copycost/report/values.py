"""What templates say of values with a bar and ask of them, and the table of what is missing."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from copycost.config.capabilities import split_implementation
from copycost.config.conditions import COLD
from copycost.config.testbeds import is_wire
from copycost.config.variants import VARIANTS
from copycost.studies.shared_tables import cell_name, load_name, where
from copycost.wording.filters import impl, join_and, size
from copycost.wording.markdown import escape, pipe_table, tabulate
from copycost.wording.values import (
    Facts,
    Form,
    all_of,
    cache,
    cpu_lists,
    gbit_span,
    ns_per_kib,
    place,
    wake_up_marks,
)
from copycost.wording.words import party


def from_memory(condition: Facts) -> bool:
    """Tell whether messages were read from memory: from a ring larger than the last-level cache."""
    multiple = condition["quantities"]["ring_per_llc"]
    return condition["working_set"] == COLD and multiple is not None and multiple >= 1.0


_ABOUT: dict[str, tuple[str, Form]] = {
    "condition": ("Condition", impl),
    "testbed": ("Testbed", impl),
    "implementation": ("Implementation", impl),
    "implementations": ("Implementation", impl),
    "limiter": ("Limiter", str),
    "msg_bytes": ("Message", size),
    "n_threads": ("Threads", str),
    "variant": ("Changed", lambda name: VARIANTS[name].change),
}
"""By key of a loss, the title of its column and how one of its values is written."""


def lost(conditions: Iterable[Facts]) -> list[Facts]:
    """Return what failed and what was skipped under some conditions, for `losses`."""
    return [
        {**loss, "status": status, "condition": [one["slug"]]}
        for one in conditions
        for status in ("failed", "skipped")
        for loss in one[status]
    ]


def losses(found: Sequence[Facts], study: str) -> str:
    """Return the table of what was not measured, see `outcomes.losses_of`; nothing without any."""

    def about(key: str, form: Form) -> Callable[[Facts], str]:
        return lambda loss: join_and(map(form, loss[key]))

    def reason_and_remedy(loss: Facts) -> str:
        return "; ".join(escape(loss[key]) for key in ("reason", "remedy") if loss[key])

    if not found:
        return ""
    titles, rows = tabulate(
        found,
        {
            "What": lambda loss: str(loss["status"]),
            ">Number": lambda loss: str(loss["n"]),
            **{title: about(key, form) for key, (title, form) in _ABOUT.items() if key in found[0]},
            "Reason, and what helps": reason_and_remedy,
        },
    )
    caption = "Repetitions without a value. They count as missing, never as zero."
    return pipe_table(titles, rows, caption, f"tbl-{study}-missing")


FILTERS_OF_VALUES: dict[str, Callable[..., Any]] = {
    "all_of": all_of,
    "cache": cache,
    "cell_name": cell_name,
    "cpu_lists": cpu_lists,
    "gbit_span": gbit_span,
    "load_name": load_name,
    "lost": lost,
    "ns_per_kib": ns_per_kib,
    "party": party,
    "place": place,
    "strategy": lambda implementation: split_implementation(implementation)[0],
    "wake_up_marks": wake_up_marks,
    "where": where,
}
"""What templates say with a bar: ``{{ name | code }}``."""

TESTS: dict[str, Callable[..., bool]] = {
    "batched": lambda implementation: split_implementation(implementation)[1] > 1,
    "from_memory": from_memory,
    "over_wire": is_wire,
}
"""What they ask: ``{% if t is from_memory %}``."""
