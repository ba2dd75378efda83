"""Call stacks that `perf script` prints, added up by process, with their weight.

A sample is a line about the task, one line per frame (innermost first), and an empty line::

    sender_two_copy  4627/4631  12636.749929:     500250 cpu-clock:
            ffffffff81b6c5e0 _copy_from_iter ([kernel.kallsyms])
            ffffffff82010783 tcp_sendmsg_locked ([kernel.kallsyms])
                      10aba4 __send (/usr/lib/x86_64-linux-gnu/libc.so.6)

Source: perf-script(1), tools/perf/builtin-script.c and util/evsel_fprintf.c of Linux 6.1 to 6.18.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from copycost.errors import ParseError

KERNEL_MARK = "_[k]"
"""Ends the name of a frame of the kernel, as in the flame graphs that others draw."""

INLINED_MARK = "_[i]"
"""Ends the name of a frame that the compiler has put into its caller."""

EMULATOR_MARK, HYPERVISOR_MARK = "_[e]", "_[h]"
"""End the names of frames of a hypervisor in user mode: where it runs a guest's instructions by
itself, and elsewhere."""

UNKNOWN = "[unknown]"
"""What perf calls an address that belongs to no known function."""

# callers are remembered by their text, since few different ones come again and again; what a
# program with endlessly many of them would take is bounded
_MOST_REMEMBERED = 50_000

# the name of a task may hold anything
_HEADER = re.compile(
    rb"^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/\s*(?P<tid>-?\d+)\s+(?:\[\d+\]\s+)?(?:\d+\.\d+:\s+)?"
    rb"(?P<period>\d+)\s+[^\s:]\S*?:(?:\s+(?P<frame>[0-9a-f]+\s.*))?\s*$"
)
_LOST = re.compile(rb"PERF_RECORD_LOST(?P<samples>_SAMPLES)?\b.*?\blost\s+(?P<n>\d+)")
_FRAME = re.compile(rb"^\s*(?P<ip>[0-9a-f]+)\s+(?P<symbol>.*?)\s*$")
# a file's name may hold spaces and brackets itself, a function's name too: the first bracket that
# opens a path or one of perf's own names is the file's
_OBJECT = re.compile(rb"\s\((?P<object>(?:/|\[|//|inlined|anon|memfd:|SYSV|bpf).*)\)$")
_LAST_OBJECT = re.compile(rb"\s\((?P<object>[^()]*)\)$")
_OFFSET = re.compile(rb"\+0x[0-9a-f]+$")
# what the compiler adds to the name of a function that it has split or specialised
_SUFFIX = re.compile(r"(?:\.(?:isra|constprop|part|cold|llvm|localalias|lto_priv)(?:\.\d+)*)+$")
_KERNEL_OBJECT = re.compile(
    rb"^\[(?:guest\.)?kernel|vmlinux|\.ko(?:\.\w+)?$|^\[(?!vdso|vsyscall|heap|stack|anon|unknown)"
)
_FIRST_KERNEL_ADDRESS = 1 << 63  # on all 64-bit processors that perf knows with one address space


@dataclass(frozen=True, slots=True)
class Thread:
    """Who a sample is of: the thread's name, its process, and itself."""

    name: str
    pid: int
    tid: int


OfThread = Callable[[Thread, str], str]
"""What becomes of a stack, by the thread that it is of."""


@dataclass(slots=True)
class Stacks:
    """The call stacks of one process.

    By stack (frames from the outermost in, joined by ``;``) `weights` has the sum of the periods:
    nanoseconds of CPU time for the timer, cycles for the cycle counter.
    """

    weights: Counter[str] = field(default_factory=Counter)
    samples: int = 0

    @property
    def weight(self) -> int:
        """The weight of all samples together."""
        return self.weights.total()

    def add(self, other: "Stacks") -> None:
        """Take in the stacks of another process."""
        self.samples += other.samples
        self.weights.update(other.weights)


@dataclass(slots=True)
class Sampled:
    """Everything that was read, by process id.

    What the kernel could not hand over is counted by its two records of that. A text is truncated
    where it ends within a sample, which was left out.
    """

    processes: defaultdict[int, Stacks] = field(default_factory=lambda: defaultdict(Stacks))
    lost_records: int = 0
    lost_samples: int = 0
    truncated: bool = False

    @property
    def lost(self) -> int:
        """Samples that the kernel could not hand over [count].

        From Linux 6.0 and perf 6.1 on, what found no room in the buffer is told in both records.
        """
        return max(self.lost_records, self.lost_samples)

    def of(self, pids: Iterable[int]) -> Stacks:
        """Return the stacks of some processes together; none where they were never on a CPU."""
        together = Stacks()
        for pid in pids:
            if pid in self.processes:
                together.add(self.processes[pid])
        return together


def read_samples(blocks: Iterable[bytes], where: str, of_thread: OfThread | None = None) -> Sampled:
    """Add up the samples of a text, which is read once and never held as a whole.

    A sample that the end of the text cuts off is left out, since its outer frames are missing. A
    line that is none of perf's is a ParseError with `where` and its number.
    """
    reader = _Reader(where, of_thread)
    n_before, rest = 0, b""
    try:
        for block in blocks:
            *lines, rest = (rest + block).split(b"\n")
            for number, line in enumerate(lines, n_before + 1):
                reader.line(line, number)
            n_before += len(lines)
        reader.end(rest)
    except ValueError as error:  # a number of thousands of digits
        raise ParseError(f"{where}, after line {n_before}: {error}; run again") from error
    return reader.found


class _Reader:
    """Adds up samples, line by line."""

    def __init__(self, where: str, of_thread: OfThread | None) -> None:
        self.found = Sampled()
        self._where = where
        self._of_thread = of_thread
        self._head, self._head_number = b"", 0
        self._frames: list[bytes] = []

    def line(self, line: bytes, number: int) -> None:
        """Take a line: a frame belongs to the sample before it, any other line ends that."""
        if line.startswith(b"\t"):
            self._frames.append(line)
            return
        self._end_sample()
        if not line.strip() or line.startswith(b"#"):
            return
        if b"PERF_RECORD_" not in line:
            self._head, self._head_number = line, number
        elif (lost := _LOST.search(line)) is not None and lost["samples"]:
            self.found.lost_samples += int(lost["n"])
        elif lost is not None:
            self.found.lost_records += int(lost["n"])

    def end(self, cut_off: bytes) -> None:
        """End the text, maybe within a line: then, or within frames, it lacks outer frames."""
        if cut_off or self._frames:
            self.found.truncated = True
        else:
            self._end_sample()

    def _end_sample(self) -> None:
        head, frames = self._head, b"\n".join(self._frames)
        self._head, self._frames = b"", []
        if not head:
            return
        match = _HEADER.match(head)
        if match is None:
            raise ParseError(
                f"{self._where}, line {self._head_number}: found"
                f" {head[:100].decode(errors='replace')!r}, expected the first line of a sample as"
                " perf script prints it"
            )
        pid, tid, period, alone = match.group("pid", "tid", "period", "frame")
        leaf, _, callers = (alone or frames).partition(b"\n")
        stack = _outer(callers) + frame_name(leaf) if leaf else UNKNOWN
        if self._of_thread is not None:
            comm = match["comm"].decode(errors="replace")
            stack = self._of_thread(Thread(comm, int(pid), int(tid)), stack)
        process = self.found.processes[int(pid)]
        process.weights[stack] += int(period)
        process.samples += 1


@lru_cache(_MOST_REMEMBERED)
def _outer(callers: bytes) -> str:
    """Return the frames around the innermost one, outermost first, each with ``;`` behind."""
    names = [frame_name(line) for line in callers.split(b"\n") if line.strip()]
    return "".join(f"{name};" for name in reversed(names))


@lru_cache(_MOST_REMEMBERED)
def frame_name(line: bytes) -> str:
    """Return the name of a frame's function, with a mark for the kernel and for inlined ones."""
    match = _FRAME.match(line)
    if match is None:
        return UNKNOWN
    symbol, file = match["symbol"], b""
    if place := _OBJECT.search(symbol) or _LAST_OBJECT.search(symbol):
        symbol, file = symbol[: place.start()], place["object"]
    name = _OFFSET.sub(b"", symbol.strip()).decode(errors="replace").replace(";", ":")
    name = _SUFFIX.sub("", name) or UNKNOWN
    in_kernel = int(match["ip"], 16) >= _FIRST_KERNEL_ADDRESS or bool(_KERNEL_OBJECT.search(file))
    if in_kernel and file not in (b"[vsyscall]", b"[vdso]"):
        return name + KERNEL_MARK
    return name + INLINED_MARK if file == b"inlined" else name
