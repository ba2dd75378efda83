"""The columns of the table of the study `datagrams`."""

from copycost.records.column import fact, flag, grouped, number, text
from copycost.records.columns import RATE_LIMIT
from copycost.studies.record_table import define

_CPU = "% of one CPU"
_KEY = (
    fact("testbed", "str", "", "Where the datagrams travel"),
    fact("implementation", "str", "", "iperf3, or a strategy of ours"),
    fact("msg_bytes", "int64", "byte", "UDP payload of a datagram"),
    fact("n_threads", "int64", "count", "Sockets that send"),
    fact("rep", "int64", "", "Number of the repetition, from 1"),
)
_RATE = grouped(
    "Bitrate and cost, in the window",
    number("sent_bits_per_s", "bit/s", "Payload sent"),
    number("bits_per_s", "bit/s", "Payload received"),
    number("rate_limit_bits_per_s", "bit/s", RATE_LIMIT),
    number("sent_per_s", "1/s", "Datagrams sent"),
    number("received_per_s", "1/s", "Datagrams received"),
    number("sender_cpu_percent", _CPU, "CPU used by the senders"),
    number("receiver_cpu_percent", _CPU, "CPU used by the receivers"),
    text("cpu_clock",
         "Clock of these: task_clock (perf stat), or scheduler if perf did not count both sides",
         allowed=("task_clock", "scheduler")),
    number("sender_ns", "ns", "Senders' CPU time per datagram sent"),
    number("receiver_ns", "ns", "Receivers' CPU time per datagram received"),
)  # fmt: skip
# What is counted at two moments, one after the other, may come out below 0.
_LOSS = grouped(
    "Loss, from the first datagram until the receivers had read all",
    number("sent", "count", "Datagrams sent"),
    number("received", "count", "Datagrams received"),
    number("lost", "count", "sent - received", lowest=None),
    number("mtu_bytes", "byte", "MTU of the sender's device"),
    number("packets_each", "count", "Packets that carry a datagram, by the MTU"),
    number("lost_receive_buffer", "count", "Lost because the receive buffer was full"),
    number("lost_socket_memory", "count", "Lost for lack of socket memory"),
    number("lost_reassembly", "count",
           "Lost for lack of room to reassemble packets of a datagram; if a datagram takes "
           "several, losses that no cause at the socket explains are divided between this and the "
           "devices, by packets"),
    number("lost_device", "count", "Dropped by a side's network device, including errors"),
    number("lost_tap", "count", "Dropped by a guest's TAP device, whose queue was full"),
    number("lost_bridge", "count", "Dropped by the bridge between guests"),
    number("lost_other", "count", "Lost to other causes that the kernel counts", lowest=None),
    number("lost_unaccounted", "count", "Lost, but counted nowhere", lowest=None),
    flag("drained", "Whether the receivers had read everything by then"),
)  # fmt: skip
_TOTAL = grouped(
    "The whole test",
    number("driver_sent", "count", "Datagrams sent, by the driver"),
    number("driver_lost", "count", "Datagrams lost, by the driver", lowest=None),
    number("driver_out_of_order", "count", "Datagrams out of order, by the driver"),
    number("kernel_sent", "count", "Datagrams sent, by the kernel"),
    number("kernel_lost", "count", "Datagrams lost or left unread, by the kernel", lowest=None),
)

DATAGRAMS = define("table of datagrams", _KEY, _RATE, _LOSS, _TOTAL)
