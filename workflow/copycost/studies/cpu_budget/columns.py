"""The columns of the table of the study `cpu_budget`."""

from copycost.records.column import Column, Definition, fact
from copycost.records.columns import OUTCOME
from copycost.records.cpu_attribution import cost_columns, status_columns, use_columns

_KEY = "Key"
_CPU = "% of one CPU"
_KEY_COLUMNS = (
    fact("testbed", "str", "", "Where the bytes travel", _KEY),
    fact("implementation", "str", "", "iperf3, or a strategy of ours", _KEY),
    fact("limiter", "str", "", "What limits the sender's CPU", _KEY),
    fact("n_threads", "int64", "count", "Parallel connections", _KEY),
    fact("limit_percent", "int64", _CPU, "CPU offered per connection", _KEY),
    fact("rep", "int64", "", "Number of the repetition, from 1", _KEY),
)

_USE = "CPU offered and used"
_USE_COLUMNS = (
    Column("limiter_kind", "str", "", "Interface of the limiter", _USE, always=True),
    fact("offered_percent", "float64", _CPU, "CPU offered to all senders together", _USE),
    Column("sender_cpu_percent", "float64", _CPU,
           "CPU used by the senders, scheduler's clock", _USE),
    Column("receiver_cpu_percent", "float64", _CPU,
           "CPU used by the receivers, scheduler's clock", _USE),
    Column("sender_perf_percent", "float64", _CPU,
           "CPU used by the senders, perf stat's task-clock", _USE),
    Column("receiver_perf_percent", "float64", _CPU,
           "CPU used by the receivers, perf stat's task-clock", _USE),
    Column("sender_waiting_percent", "float64", _CPU,
           "Time for which the senders were runnable but had no CPU", _USE),
    Column("receiver_waiting_percent", "float64", _CPU,
           "Time for which the receivers were runnable but had no CPU", _USE),
)  # fmt: skip

_RATE = "Bitrate"
_RATE_COLUMNS = (
    Column("sent_bits_per_s", "float64", "bit/s",
           "Payload sent, by the driver's intervals in the window; not known for our own sender "
           "under cpulimit", _RATE),
    Column("bits_per_s", "float64", "bit/s",
           "Payload received, by the driver's intervals in the window", _RATE),
    Column("kernel_bits_per_s", "float64", "bit/s",
           "Payload received, by the kernel's count of reads", _RATE),
    Column("retransmits", "float64", "count", "Segments retransmitted in the window", _RATE),
)  # fmt: skip

_JUDGED = "What held the sender back"
_JUDGED_COLUMNS = (
    Column("held_share", "float64", "1",
           "Share of the limiter's periods in which it throttled the sender", _JUDGED, highest=1),
    fact("limiter_missed", "bool", "",
         "Whether used and offered CPU differ by more than 5 points per connection because of "
         "the limiter", _JUDGED),
    fact("saturated", "bool", "",
         "Whether the senders left more than 5 points per connection of the offered CPU unused",
         _JUDGED),
)  # fmt: skip

_HOW = "How it was measured"
_HOW_COLUMNS = (
    Column("flags", "str", "", "Codes of the record's warnings, joined by ;", _HOW, always=True),
    Column("n_intervals", "float64", "count",
           "Whole intervals of the driver within the window", _HOW),
    Column("driver_version", "str", "", "Version of the driver", _HOW, always=True),
    Column("process_pairs", "float64", "count", "Senders, each with a receiver", _HOW, always=True),
    Column("congestion_control", "str", "",
           "Congestion control of the sender's sockets, as the driver reports it", _HOW),
)  # fmt: skip

CPU_BUDGET = Definition(
    "table of the CPU budget",
    (
        *_KEY_COLUMNS,
        *OUTCOME,
        *_USE_COLUMNS,
        *_RATE_COLUMNS,
        *_JUDGED_COLUMNS,
        *status_columns(),
        *use_columns(),
        *cost_columns(),
        *_HOW_COLUMNS,
    ),
    key=tuple(column.name for column in _KEY_COLUMNS),
    sorted_by=(),
)
