"""The configuration as typed values.

config.yaml and workflow/config/defaults.yaml explain each key, with its unit. None stands for a
word such as `kernel`, `auto` or `none` there (`copycost.config.structure`).

The measuring process, whose start-up time is paid at every repetition, needs `Settings` alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args

from copycost.config import structure as kinds
from copycost.config.settings import AUTO, KERNEL, NoDelay, Settings
from copycost.config.simulated import Simulated
from copycost.config.studies import (
    CpuBudget,
    Datagrams,
    Placement,
    Profile,
    RoundTrips,
    Streams,
    Udp,
)
from copycost.config.wire import Wire

Study = Literal["streams", "round_trips"]
STUDIES: tuple[Study, ...] = get_args(Study)

_CPU_LIST = kinds.list_of(kinds.number("a CPU", 0))
_Cpus = Annotated[tuple[int, ...] | None, kinds.either({AUTO: None}, _CPU_LIST)]
_Buffer = Annotated[int | None, kinds.either({KERNEL: None}, kinds.size(1 << 10, 1 << 30))]


@dataclass(frozen=True, slots=True)
class Cpus:
    """CPU numbers of each side, from which placements choose; None offers all of them."""

    sender: _Cpus
    receiver: _Cpus


_MINUTES = kinds.number("minutes", 0.001, 1440, whole=False)
_CONGESTION_CONTROL = kinds.word(
    "the name of a congestion control such as cubic or reno", r"[a-z][a-z0-9_]{0,14}"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """How every cell is measured: `Settings`, and how often and in which order."""

    repetitions: kinds.Repetitions
    minutes: Annotated[float | None, kinds.either({kinds.NONE: None}, _MINUTES)]
    warmup_s: kinds.Settling
    duration_s: kinds.Window
    congestion_control: Annotated[str, _CONGESTION_CONTROL]
    tcp_nodelay: NoDelay
    send_buffer_bytes: _Buffer
    receive_buffer_bytes: _Buffer
    cpus: Cpus
    fresh: bool
    interval_us: Annotated[int, kinds.number("microseconds", 0, 1_000_000)]
    memory_floor: bool
    order_seed: kinds.Seed

    def settings(self, study: Study = "streams") -> Settings:
        """Return the part that changes what a repetition of a study measures."""
        return Settings(
            warmup_s=self.warmup_s,
            duration_s=self.duration_s,
            congestion_control=self.congestion_control,
            tcp_nodelay=self.tcp_nodelay,
            send_buffer_bytes=self.send_buffer_bytes,
            receive_buffer_bytes=self.receive_buffer_bytes,
            sender_cpus=self.cpus.sender,
            receiver_cpus=self.cpus.receiver,
            fresh=self.fresh,
            mode="request_response" if study == "round_trips" else "stream",
            interval_ns=self.interval_us * 1000 if study == "round_trips" else 0,
        )


@dataclass(frozen=True, slots=True)
class Statistics:
    """How repetitions are summarised: confidence (0.5 to 1), resamples [count], seed."""

    confidence: Annotated[float, kinds.number(least=0.5, most=0.9999, whole=False)]
    resamples: Annotated[int, kinds.number("resamples", 100, 1_000_000)]
    seed: kinds.Seed


_PRINTABLE = r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+"


@dataclass(frozen=True, slots=True)
class Report:
    """What the report looks like."""

    title: Annotated[str, kinds.word("a text of one line", _PRINTABLE, most=200)]
    formats: tuple[Literal["html", "pdf"], ...]


@dataclass(frozen=True, slots=True)
class Virtual:
    """What the guests of the testbeds ``vm_*`` are made of."""

    accelerator: Literal["auto", "kvm", "tcg"]
    vcpus: Annotated[int, kinds.number("processors", 1, 64)]
    memory_mib: Annotated[int, kinds.number("MiB", 256, 1 << 20)]
    network_device: Literal["virtio", "e1000"]
    vhost: Literal["auto", "off"]
    offloads: bool
    kernel: Annotated[str, kinds.KERNEL]


_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_PARTITION = kinds.word("the name of a partition", _NAME)
_NODE = kinds.word("the name of a node", _NAME)
_FEATURES = kinds.word("features of a node", r"[A-Za-z0-9][A-Za-z0-9._&|-]{0,63}")
_ALIAS = kinds.word(
    "auto, or a name of small letters, digits and hyphens", r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", 40
)


@dataclass(frozen=True, slots=True)
class Slurm:
    """Nodes of a cluster that ``./run fleet`` measures; without a partition, of the usual one."""

    partition: Annotated[str | None, kinds.either({AUTO: None}, _PARTITION)]
    nodes: Annotated[tuple[str, ...], kinds.list_of(_NODE, 0, 1000)]
    count: Annotated[int, kinds.number("nodes", 0, 1000)]
    constraint: Annotated[str | None, kinds.either({kinds.NONE: None}, _FEATURES)]


@dataclass(frozen=True, slots=True)
class Hosts:
    """Which hosts ``./run fleet`` is about."""

    alias: Annotated[str, _ALIAS]
    where: tuple[Literal["local", "slurm"], ...]
    slurm: Slurm


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration, checked."""

    streams: Streams
    udp: Udp
    round_trips: RoundTrips
    placement: Placement
    profile: Profile
    cpu_budget: CpuBudget
    datagrams: Datagrams
    virtual: Virtual
    wire: Wire
    hosts: Hosts
    simulated: Simulated
    measure: Measure
    statistics: Statistics
    report: Report

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration in the words of config.yaml, sizes in bytes, lists as lists."""
        return kinds.to_plain(self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> Self:
        """Return the configuration from what `as_dict` gave, or from a checked config file."""
        return kinds.from_plain(tree, cls)
