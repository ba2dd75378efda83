"""The section `virtual` of the configuration: what the guests of the testbeds ``vm_*`` are."""

from dataclasses import dataclass
from typing import Literal, get_args

from copycost.config.structure import Choice, Flag, Number, Word, stated

Accelerator = Literal["auto", "kvm", "tcg"]
Device = Literal["virtio", "e1000"]
Vhost = Literal["auto", "off"]


@dataclass(frozen=True, slots=True)
class Virtual:
    """What guests are made of."""

    accelerator: Accelerator = stated(Choice(*get_args(Accelerator)))
    vcpus: int = stated(Number("processors", 1, 64))
    memory_mib: int = stated(Number("MiB", 256, 1 << 20))
    network_device: Device = stated(Choice(*get_args(Device)))
    vhost: Vhost = stated(Choice(*get_args(Vhost)))
    offloads: bool = stated(Flag())
    kernel: str = stated(Word("auto, or the path of a kernel", most=4096))
