"""What `perf script` prints, added up as it comes: call stacks by process, with their weight.

A sample is a line about the task, one line per frame (innermost first), and an empty line::

    sender_two_copy  4627/4631  12636.749929:     500250 cpu-clock:
            ffffffff81b6c5e0 _copy_from_iter ([kernel.kallsyms])
            ffffffff82010783 tcp_sendmsg_locked ([kernel.kallsyms])
                      10aba4 __send (/usr/lib/x86_64-linux-gnu/libc.so.6)

Source: perf-script(1), tools/perf/builtin-script.c and util/evsel_fprintf.c of Linux 4.15 to 6.18.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import IO

from copycost.errors import ParseError
from copycost.perf.stacks import INLINED_MARK, KERNEL_MARK, UNKNOWN, Sampled, Thread

_BLOCK_BYTES = 1 << 22
# callers are remembered by their text, since few different ones come again and again; what a
# program with endlessly many of them would take is bounded
_MOST_REMEMBERED = 50_000

# the name of a task may hold anything, and the CPU, the time and the period may be left out
_HEADER = re.compile(
    rb"^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)(?:/\s*(?P<tid>-?\d+))?"
    rb"\s+(?:\[\d+\]\s+)?(?:[.\w]{4,9}\s+)?(?:\d+\.\d+:\s+)?(?:(?P<period>\d+)\s+)?"
    rb"(?P<event>[^\s:][^\s]*?):(?:\s+(?P<frame>[0-9a-f]+\s.*))?\s*$"
)
_LOST = re.compile(rb"PERF_RECORD_LOST(?P<samples>_SAMPLES)?\b.*?\blost\s+(?P<n>\d+)")
_OTHER_RECORD = re.compile(rb"PERF_RECORD_[A-Z]|^#")
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


OfThread = Callable[[Thread, str], str]
"""What becomes of a stack, by the thread that it is of."""


class _Reader:
    """Adds up samples; one per text."""

    def __init__(self, where: str, of_thread: OfThread | None) -> None:
        self.found = Sampled()
        self._where = where
        self._of_thread = of_thread

    def paragraph(self, text: bytes, line_number: int) -> None:
        """Take what stands between two empty lines."""
        head, _, rest = text.partition(b"\n")
        if (rest and not rest.startswith(b"\t")) or b"PERF_RECORD_" in head:
            self._several(text, line_number)
        elif head.strip():
            self._sample(head, rest, line_number)

    def _several(self, text: bytes, line_number: int) -> None:
        """Take a paragraph of more than one record: all but samples with frames stand close."""
        head, frames, head_number = b"", list[bytes](), line_number
        for number, line in enumerate(text.split(b"\n"), line_number):
            if line.startswith(b"\t"):
                frames.append(line)
                continue
            if head:
                self._sample(head, b"\n".join(frames), head_number)
            head, frames, head_number = b"", [], number
            lost = _LOST.search(line)
            if lost is not None and lost["samples"]:
                self.found.lost_samples += int(lost["n"])
            elif lost is not None:
                self.found.lost_records += int(lost["n"])
            elif line.strip() and not _OTHER_RECORD.search(line):
                head = line
        if head:
            self._sample(head, b"\n".join(frames), head_number)

    def _sample(self, head: bytes, frames: bytes, line_number: int) -> None:
        match = _HEADER.match(head)
        if match is None:
            if head.startswith(b"#"):
                return
            raise ParseError(
                f"{self._where}, line {line_number}: found {head[:100].decode(errors='replace')!r},"
                " expected the first line of a sample as perf script prints it"
            )
        pid, tid, period, alone = match.group("pid", "tid", "period", "frame")
        if tid is None:  # perf was asked for one number only, which is the thread's
            tid = pid
        leaf, _, callers = (alone or frames).partition(b"\n")
        stack = _outer(callers) + frame_name(leaf) if leaf else UNKNOWN
        if self._of_thread is not None:
            comm = match["comm"].decode(errors="replace")
            stack = self._of_thread(Thread(comm, int(pid), int(tid)), stack)
        process = self.found.processes[int(pid)]
        process.weights[stack] += 1 if period is None else int(period)
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
    symbol = match["symbol"]
    place = _OBJECT.search(symbol) or _LAST_OBJECT.search(symbol)
    file = place["object"] if place else b""
    if place:
        symbol = symbol[: place.start()]
    name = _OFFSET.sub(b"", symbol.strip()).decode(errors="replace").replace(";", ":")
    name = _SUFFIX.sub("", name) or UNKNOWN
    in_kernel = int(match["ip"], 16) >= _FIRST_KERNEL_ADDRESS or bool(_KERNEL_OBJECT.search(file))
    if in_kernel and file not in (b"[vsyscall]", b"[vdso]"):
        return name + KERNEL_MARK
    return name + INLINED_MARK if file == b"inlined" else name


def read_samples(stream: IO[bytes], where: str, of_thread: OfThread | None = None) -> Sampled:
    """Add up the samples of a text, which is read once and never held as a whole.

    A sample that the end of the text cuts off is left out, since its outer frames are missing. A
    line that is none of perf's is a ParseError with `where` and its number.
    """
    reader = _Reader(where, of_thread)
    line_number = 1
    for text, n_newlines in _paragraphs(stream):
        if text is None:
            reader.found.truncated = True
            break
        try:
            reader.paragraph(text, line_number)
        except ValueError as error:  # a number of thousands of digits
            raise ParseError(f"{where}, line {line_number}: {error}; run again") from error
        line_number += text.count(b"\n") + n_newlines
    return reader.found


def _paragraphs(stream: IO[bytes]) -> Iterator[tuple[bytes | None, int]]:
    """Yield what stands between empty lines, and how many line ends stand behind it.

    At last None comes if the text ends within a sample.
    """
    rest = b""
    while block := stream.read(_BLOCK_BYTES):
        *whole, rest = (rest + block).split(b"\n\n")
        for text in whole:
            yield text, 2
        # samples without frames have no empty line behind them: what they leave must not grow
        while (end := _last_line_of_its_own(rest)) > 0:
            yield rest[:end], 1
            rest = rest[end + 1 :]
    if not rest.strip():
        return
    last_line = rest.rstrip(b"\n").rpartition(b"\n")[2]
    if rest.endswith(b"\n") and not last_line.startswith(b"\t"):
        yield rest, 0
    else:
        yield None, 0


def _last_line_of_its_own(text: bytes) -> int:
    """Return where, in a long text, the last line begins that is no frame's, or 0."""
    if len(text) < _BLOCK_BYTES:
        return 0
    end = text.rfind(b"\n")
    while end > 0 and text[end + 1 : end + 2] in (b"\t", b""):
        end = text.rfind(b"\n", 0, end)
    return max(end, 0)
