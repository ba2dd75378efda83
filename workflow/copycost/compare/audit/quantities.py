"""The quantities that a foreign table may hold, a row each: their names, units and directions."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["label", "count", "rate", "time", "size", "share", "instant"]

INSTANTS = ("start", "end")
"""When a repetition was measured: not compared, but checked for runs that overlap."""

TOTALS = (
    "cycles", "instructions", "l1d_misses", "llc_misses", "cache_misses", "context_switches",
    "cpu_time",
)  # fmt: skip
"""Totals over the run, of both sides together, unless a column says per byte or per message."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a column can mean.

    `words`: as a sentence calls it. `kind`: which units it may have. `unit`: taken where neither
    the column nor its values name one. `aliases`: other names of it, lower case, letters and digits
    only, with spaces between. `more_is_better`: none where neither is.
    """

    name: str
    words: str
    kind: Kind
    unit: str
    aliases: str
    more_is_better: bool | None = None


def _counter(name: str, words: str, aliases: str) -> Quantity:
    return Quantity(name, words, "count", "", aliases, more_is_better=False)


QUANTITIES = (
    Quantity("implementation", "implementation", "label", "",
        "implementation impl algorithm algo variant method strategy mode primitive version part "
        "approach program binary type technique"),
    Quantity("msg_bytes", "message size", "size", "B",
        "msgbytes messagebytes size msgsize messagesize message msg payload payloadsize length len "
        "buffersize bufsize blocksize chunksize datagrambytes packetsize sizebytes "
        "writesize bytespermessage"),
    Quantity("n_threads", "threads", "count", "",
        "nthreads threads thread numthreads threadcount threadscount nthread clients connections "
        "nconnections streams parallelstreams parallel concurrency workers flows t numberofthreads "
        "clientthreads"),
    Quantity("rep", "repetition", "count", "",
        "rep repetition run iteration iter trial round repeat runid attempt replicate"),
    Quantity("dataset", "dataset", "label", "",
        "dataset testbed scenario host system machine platform environment"),
    Quantity("start", "time of the start", "instant", "",
        "start starttime started startedat timestamp starttimestamp begin begintime date datetime "
        "when"),
    Quantity("end", "time of the end", "instant", "",
        "end endtime ended endedat endtimestamp stop stoptime stopped finish finished"),
    Quantity("duration", "duration", "time", "s",
        "duration seconds elapsed runtime window walltime testtime elapsedtime time"),
    Quantity("bytes", "bytes moved", "size", "B",
        "bytes bytestotal bytessent bytesreceived receivedbytes sentbytes "
        "bytestransferred transferredbytes bytesmoved transfer data datatransferred"),
    Quantity("messages", "messages", "count", "",
        "messages nmessages nummessages msgs messagecount sends messagessent packets"),
    Quantity("throughput", "throughput", "rate", "Gbit/s",
        "throughput bandwidth bitrate goodput rate speed bw thput tput thruput datarate "
        "throughputavg", more_is_better=True),
    Quantity("latency", "latency", "time", "us",
        "latency servicetime servicemean latencyavg latencymean timepermessage delay lat "
        "latencypermessage", more_is_better=False),
    Quantity("latency_p99", "99th percentile of the latency", "time", "us",
        "latencyp99 p99 p99latency servicep99 99thpercentile", more_is_better=False),
    _counter("cycles", "cycles", "cycles cpucycles clockcycles"),
    _counter("instructions", "instructions", "instructions instr insn insns inst"),
    _counter("l1d_misses", "L1d misses",
        "l1dmisses l1d l1 l1misses l1miss l1dmiss l1dcacheloadmisses l1dcachemisses l1dloadmisses "
        "l1cachemisses l1loadmisses l1datamisses l1dcachemiss l1cachemiss"),
    _counter("llc_misses", "LLC misses",
        "llcmisses llc llcmiss llcloadmisses l3 l3misses l3miss lastlevelcachemisses "
        "llccachemisses l3cachemisses"),
    _counter("cache_misses", "cache misses", "cachemisses cachemiss misses"),
    _counter("context_switches", "context switches",
        "contextswitches contextswitch ctxswitches ctxswitch ctxsw switches csw cs ctx"),
    Quantity("cpu_time", "CPU time", "time", "s",
        "cputime taskclock cpu cputotal cpus", more_is_better=False),
    Quantity("copied_share", "share of completions copied", "share", "",
        "copiedshare zccopiedshare copied zerocopycopied"),
)  # fmt: skip

BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}
_BY_ALIAS = {alias: quantity for quantity in QUANTITIES for alias in quantity.aliases.split()}
_PER = {"perbyte": "_per_byte", "permessage": "_per_message", "permsg": "_per_message"}

FACTORS: dict[str, dict[str, float]] = {
    "rate": {
        "bit/s": 1, "bps": 1, "kbps": 1e3, "kbit/s": 1e3, "mbps": 1e6, "mbit/s": 1e6,
        "gbps": 1e9, "gbit/s": 1e9, "gbits": 1e9, "gbits/s": 1e9, "gb/s": 1e9, "mbits/s": 1e6,
        "tbps": 1e12, "tbit/s": 1e12, "bitspers": 1, "gbit": 1e9, "mbit": 1e6, "gbitps": 1e9,
        "b/s": 8, "byte/s": 8, "bytes/s": 8, "kib/s": 8 * 2**10, "mib/s": 8 * 2**20,
        "gib/s": 8 * 2**30, "mbyte/s": 8e6, "gbyte/s": 8e9, "gbytes/s": 8e9, "mbytes/s": 8e6,
        "mb/s": 8e6, "kb/s": 8e3, "mibps": 8 * 2**20, "gibps": 8 * 2**30,
    },
    "time": {
        "s": 1, "sec": 1, "secs": 1, "seconds": 1, "ms": 1e-3, "msec": 1e-3, "us": 1e-6,
        "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "microseconds": 1e-6, "ns": 1e-9, "nsec": 1e-9,
        "min": 60,
    },
    # Sizes of messages called kB are powers of two in practice; the notes of a reading say so.
    "size": {
        "b": 1, "byte": 1, "bytes": 1, "kb": 2**10, "k": 2**10, "kib": 2**10, "mb": 2**20,
        "m": 2**20, "mib": 2**20, "gb": 2**30, "g": 2**30, "gib": 2**30,
    },
    "count": {"": 1, "count": 1, "k": 1e3, "m": 1e6, "g": 1e9, "million": 1e6, "billion": 1e9,
              "thousand": 1e3, "misses": 1, "cycles": 1},
    "share": {"": 1, "1": 1, "%": 0.01, "percent": 0.01},
    "label": {},
    "instant": {"": 1, "s": 1, "sec": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "utc": 1},
}  # fmt: skip
"""Factor from a unit to SI (bits per second, seconds, bytes, plain counts)."""

# As sloppy as they are common: small b for bytes per second is read with case where it is told.
_CASED = {"GB/s": 8e9, "MB/s": 8e6, "KB/s": 8e3, "kB/s": 8e3, "Gb/s": 1e9, "Mb/s": 1e6, "Kb/s": 1e3,
          "GBps": 8e9, "MBps": 8e6}  # fmt: skip


def unit_factor(kind: Kind, unit: str) -> float | None:
    """Return the factor from a unit to SI, None where the unit is not one of this kind."""
    text = unit.strip().replace(" ", "")
    if kind == "rate" and text in _CASED:
        return _CASED[text]
    return FACTORS[kind].get(text.lower())


def bare(name: str) -> str:
    """Return a name with nothing but its small letters and digits."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def find_quantity(name: str) -> str | None:
    """Return the quantity that a column name (without its unit) means, or None.

    Counters may be per byte or per message: ``cycles_per_byte`` is a quantity of its own.
    """
    text = bare(name.replace("/", " per "))
    for prefix in ("both", "total", "avg", "average", "mean", "measured"):
        if text.startswith(prefix) and text not in _BY_ALIAS:
            text = text.removeprefix(prefix)
    if text in _BY_ALIAS:
        return _BY_ALIAS[text].name
    for ending, suffix in _PER.items():
        if text.endswith(ending):
            found = _BY_ALIAS.get(text.removesuffix(ending))
            if found is not None and found.name in TOTALS:
                return f"{found.name}{suffix}"
    return None


def base_of(name: str) -> Quantity:
    """Return the quantity behind a name, also behind one per byte or per message."""
    return BY_NAME[name.removesuffix("_per_byte").removesuffix("_per_message")]


def words_of(name: str) -> str:
    """Return a quantity as a sentence calls it: ``L1d misses per byte``."""
    base = base_of(name)
    return f"{base.words}{name.removeprefix(base.name).replace('_', ' ')}"
