"""The columns of the table of the study `datagrams`."""

from copycost.records.column import Column, Definition, fact
from copycost.records.columns import OUTCOME, RATE_LIMIT
from copycost.records.cpu_attribution import cost_columns, status_columns, use_columns

_KEY = "Key"
_CPU = "% of one CPU"
_KEY_COLUMNS = (
    fact("testbed", "str", "", "Where the datagrams travel", _KEY),
    fact("implementation", "str", "", "iperf3, or a strategy of ours", _KEY),
    fact("msg_bytes", "int64", "byte", "UDP payload of a datagram", _KEY),
    fact("n_threads", "int64", "count", "Sockets that send", _KEY),
    fact("rep", "int64", "", "Number of the repetition, from 1", _KEY),
)

_RATE = "Bitrate and cost, in the window"
_RATE_COLUMNS = (
    Column("sent_bits_per_s", "float64", "bit/s", "Payload sent", _RATE),
    Column("bits_per_s", "float64", "bit/s", "Payload received", _RATE),
    Column("rate_limit_bits_per_s", "float64", "bit/s", RATE_LIMIT, _RATE),
    Column("sent_per_s", "float64", "1/s", "Datagrams sent", _RATE),
    Column("received_per_s", "float64", "1/s", "Datagrams received", _RATE),
    Column("sender_cpu_percent", "float64", _CPU, "CPU used by the senders", _RATE),
    Column("receiver_cpu_percent", "float64", _CPU, "CPU used by the receivers", _RATE),
    Column("cpu_clock", "str", "",
           "Clock of these: task_clock (perf stat), or scheduler if perf did not count both sides",
           _RATE, allowed=("task_clock", "scheduler")),
    Column("sender_ns", "float64", "ns", "Senders' CPU time per datagram sent", _RATE),
    Column("receiver_ns", "float64", "ns", "Receivers' CPU time per datagram received", _RATE),
)  # fmt: skip

# What is counted at two moments, one after the other, may come out below 0.
_LOSS = "Loss, from the first datagram until the receivers had read all"
_LOSS_COLUMNS = (
    Column("sent", "float64", "count", "Datagrams sent", _LOSS),
    Column("received", "float64", "count", "Datagrams received", _LOSS),
    Column("lost", "float64", "count", "sent - received", _LOSS, lowest=None),
    Column("mtu_bytes", "float64", "byte", "MTU of the sender's device", _LOSS),
    Column("packets_each", "float64", "count", "Packets that carry a datagram, by the MTU", _LOSS),
    Column("lost_receive_buffer", "float64", "count",
           "Lost because the receive buffer was full", _LOSS),
    Column("lost_socket_memory", "float64", "count", "Lost for lack of socket memory", _LOSS),
    Column("lost_reassembly", "float64", "count",
           "Lost for lack of room to reassemble packets of a datagram; if a datagram takes "
           "several, losses that no cause at the socket explains are divided between this and the "
           "devices, by packets", _LOSS),
    Column("lost_device", "float64", "count",
           "Dropped by a side's network device, including errors", _LOSS),
    Column("lost_tap", "float64", "count", "Dropped by a guest's TAP device, whose queue was full",
           _LOSS),
    Column("lost_bridge", "float64", "count", "Dropped by the bridge between guests", _LOSS),
    Column("lost_other", "float64", "count", "Lost to other causes that the kernel counts", _LOSS,
           lowest=None),
    Column("lost_unaccounted", "float64", "count", "Lost, but counted nowhere", _LOSS,
           lowest=None),
    Column("drained", "boolean", "", "Whether the receivers had read everything by then", _LOSS),
)  # fmt: skip

_TOTAL = "The whole test"
_TOTAL_COLUMNS = (
    Column("driver_sent", "float64", "count", "Datagrams sent, by the driver", _TOTAL),
    Column("driver_lost", "float64", "count", "Datagrams lost, by the driver", _TOTAL,
           lowest=None),
    Column("driver_out_of_order", "float64", "count", "Datagrams out of order, by the driver",
           _TOTAL),
    Column("kernel_sent", "float64", "count", "Datagrams sent, by the kernel", _TOTAL),
    Column("kernel_lost", "float64", "count", "Datagrams lost or left unread, by the kernel",
           _TOTAL, lowest=None),
)  # fmt: skip

_HOW = "How it was measured"
_HOW_COLUMNS = (
    Column("flags", "str", "", "Codes of the record's warnings, joined by ;", _HOW, always=True),
    Column("driver_version", "str", "", "Version of the driver", _HOW, always=True),
    Column("process_pairs", "float64", "count", "Senders, each with a receiver", _HOW, always=True),
)  # fmt: skip

DATAGRAMS = Definition(
    "table of datagrams",
    (
        *_KEY_COLUMNS,
        *OUTCOME,
        *_RATE_COLUMNS,
        *_LOSS_COLUMNS,
        *_TOTAL_COLUMNS,
        *status_columns(),
        *use_columns(),
        *cost_columns(),
        *_HOW_COLUMNS,
    ),
    key=tuple(column.name for column in _KEY_COLUMNS),
    sorted_by=(),
)
