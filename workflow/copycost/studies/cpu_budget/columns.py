"""The columns of the table of the study `cpu_budget`."""

from copycost.hosts.side import SIDES
from copycost.records.column import fact, grouped, number, text
from copycost.studies.record_table import DRIVER_VERSION, FLAGS, PROCESS_PAIRS, define

_CPU = "% of one CPU"
_KEY = (
    fact("testbed", "str", "", "Where the bytes travel"),
    fact("implementation", "str", "", "iperf3, or a strategy of ours"),
    fact("limiter", "str", "", "What limits the sender's CPU"),
    fact("n_threads", "int64", "count", "Parallel connections"),
    fact("limit_percent", "int64", _CPU, "CPU offered per connection"),
    fact("rep", "int64", "", "Number of the repetition, from 1"),
)
_USE = grouped(
    "CPU offered and used",
    text("limiter_kind", "Interface of the limiter", always=True),
    fact("offered_percent", "float64", _CPU, "CPU offered to all senders together"),
    *(
        number(f"{side}_{name}_percent", _CPU, words.format(side=side))
        for name, words in (
            ("cpu", "CPU used by the {side}s, scheduler's clock"),
            ("perf", "CPU used by the {side}s, perf stat's task-clock"),
            ("waiting", "Time for which the {side}s were runnable but had no CPU"),
        )
        for side in SIDES
    ),
)
_RATE = grouped(
    "Bitrate",
    number("sent_bits_per_s", "bit/s",
           "Payload sent, by the driver's intervals in the window; not known for our own sender "
           "under cpulimit"),
    number("bits_per_s", "bit/s", "Payload received, by the driver's intervals in the window"),
    number("kernel_bits_per_s", "bit/s", "Payload received, by the kernel's count of reads"),
    number("retransmits", "count", "Segments retransmitted in the window"),
)  # fmt: skip
_JUDGED = grouped(
    "What held the sender back",
    number("held_share", "1",
           "Share of the limiter's periods in which it throttled the sender", highest=1),
    fact("limiter_missed", "bool", "",
         "Whether used and offered CPU differ by more than 5 points per connection because of "
         "the limiter"),
    fact("saturated", "bool", "",
         "Whether the senders left more than 5 points per connection of the offered CPU unused"),
)  # fmt: skip

CPU_BUDGET = define(
    "table of the CPU budget",
    _KEY,
    _USE,
    _RATE,
    _JUDGED,
    how=(
        FLAGS,
        number("n_intervals", "count", "Whole intervals of the driver within the window"),
        DRIVER_VERSION,
        PROCESS_PAIRS,
        text("congestion_control",
             "Congestion control of the sender's sockets, as the driver reports it"),
    ),
)  # fmt: skip
