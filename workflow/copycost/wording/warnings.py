"""What the warnings of a repetition mean, in words."""

from collections.abc import Mapping

from copycost.wording.filters import join_and

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
    "strangers": "somebody else came to the port of the measurement",
}


def warnings(counts: Mapping[str, int]) -> str:
    """Return warnings with their repetitions: ``the CPU lowered its clock (3) and ...``."""
    return join_and(f"{_MEANINGS.get(code, f'`{code}`')} ({n})" for code, n in counts.items())
