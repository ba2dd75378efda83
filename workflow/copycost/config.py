"""The configuration as typed values.

Kept free of the validator (`copycost.config_check`), since the measuring process imports it too
and its start-up time is paid at every repetition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, cast

NoDelay = Literal["kernel", "on", "off"]
Testbed = Literal["veth", "veth_no_offload", "loopback"]
ReportFormat = Literal["html", "pdf"]

# The word of the config for "leave it as the kernel has it", and for "copycost chooses".
KERNEL = "kernel"
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Streams:
    """The grid: every combination is a cell.

    Attributes
    ----------
    implementations, testbeds
        Names.
    msg_bytes
        Message sizes [bytes].
    n_threads
        Connections, each with one sending and one receiving thread [count].
    """

    implementations: tuple[str, ...]
    testbeds: tuple[Testbed, ...]
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cpus:
    """CPU numbers that each side's threads are pinned to in turn; None lets copycost choose."""

    sender: tuple[int, ...] | None
    receiver: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything of the configuration that changes what one repetition measures.

    Attributes
    ----------
    warmup_s, duration_s
        Traffic before the window, and the window itself [s].
    congestion_control
        TCP congestion control wished for.
    tcp_nodelay
        What is done with TCP_NODELAY.
    send_buffer_bytes, receive_buffer_bytes
        Socket buffers asked for [bytes]; None leaves them to the kernel.
    sender_cpus, receiver_cpus
        CPU numbers to pin to in turn; None lets copycost choose.
    """

    warmup_s: float
    duration_s: float
    congestion_control: str
    tcp_nodelay: NoDelay
    send_buffer_bytes: int | None
    receive_buffer_bytes: int | None
    sender_cpus: tuple[int, ...] | None
    receiver_cpus: tuple[int, ...] | None

    def as_params(self) -> dict[str, Any]:
        """Return plain values, which Snakemake stores and compares from run to run."""
        return asdict(self)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """Return the settings that `as_params` gave."""
        return cls(**params)


@dataclass(frozen=True, slots=True)
class Measure:
    """How every cell is measured: `Settings`, plus what only decides how often and in which order.

    Attributes
    ----------
    repetitions
        Repetitions of every cell [count].
    order_seed
        Seed of the order of cells within a round.
    """

    repetitions: int
    warmup_s: float
    duration_s: float
    congestion_control: str
    tcp_nodelay: NoDelay
    send_buffer_bytes: int | None
    receive_buffer_bytes: int | None
    cpus: Cpus
    order_seed: int

    def settings(self) -> Settings:
        """Return the part that changes what a repetition measures."""
        return Settings(
            warmup_s=self.warmup_s,
            duration_s=self.duration_s,
            congestion_control=self.congestion_control,
            tcp_nodelay=self.tcp_nodelay,
            send_buffer_bytes=self.send_buffer_bytes,
            receive_buffer_bytes=self.receive_buffer_bytes,
            sender_cpus=self.cpus.sender,
            receiver_cpus=self.cpus.receiver,
        )


@dataclass(frozen=True, slots=True)
class Statistics:
    """How repetitions are summarised: confidence (0.5 to 1), resamples [count], seed."""

    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Report:
    """What the report looks like."""

    title: str
    formats: tuple[ReportFormat, ...]


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration, checked."""

    streams: Streams
    measure: Measure
    statistics: Statistics
    report: Report

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration in the words of config.yaml, sizes in bytes, lists as lists."""
        return cast("dict[str, Any]", _plain(asdict(self)))

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> Self:
        """Return the configuration from what `as_dict` gave, or from a checked config file."""
        streams, measure = tree["streams"], tree["measure"]
        statistics, report = tree["statistics"], tree["report"]
        return cls(
            streams=Streams(
                implementations=tuple(streams["implementations"]),
                testbeds=tuple(streams["testbeds"]),
                msg_bytes=tuple(int(size) for size in streams["msg_bytes"]),
                n_threads=tuple(int(count) for count in streams["n_threads"]),
            ),
            measure=Measure(
                repetitions=int(measure["repetitions"]),
                warmup_s=float(measure["warmup_s"]),
                duration_s=float(measure["duration_s"]),
                congestion_control=measure["congestion_control"],
                tcp_nodelay=measure["tcp_nodelay"],
                send_buffer_bytes=_unless_kernel(measure["send_buffer_bytes"]),
                receive_buffer_bytes=_unless_kernel(measure["receive_buffer_bytes"]),
                cpus=Cpus(
                    sender=_unless_auto(measure["cpus"]["sender"]),
                    receiver=_unless_auto(measure["cpus"]["receiver"]),
                ),
                order_seed=int(measure["order_seed"]),
            ),
            statistics=Statistics(
                confidence=float(statistics["confidence"]),
                resamples=int(statistics["resamples"]),
                seed=int(statistics["seed"]),
            ),
            report=Report(title=report["title"].strip(), formats=tuple(report["formats"])),
        )


def _unless_kernel(size: int | str) -> int | None:
    return None if size == KERNEL else int(size)


def _unless_auto(cpus: Sequence[int] | str) -> tuple[int, ...] | None:
    return None if cpus == AUTO else tuple(int(cpu) for cpu in cpus)


def _plain(value: object, key: str = "") -> object:
    """Return `value` with lists for tuples and the config's own words for None."""
    if isinstance(value, dict):
        return {name: _plain(item, name) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if value is None:
        return KERNEL if key.endswith("_bytes") else AUTO
    return value
