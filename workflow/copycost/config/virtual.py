"""The section `virtual` of the configuration: what the guests of the testbeds ``vm_*`` are."""

from dataclasses import dataclass
from typing import Annotated, Literal

from copycost.config import structure as kinds

Accelerator = Literal["auto", "kvm", "tcg"]


@dataclass(frozen=True, slots=True)
class Virtual:
    """What guests are made of."""

    accelerator: Accelerator
    vcpus: Annotated[int, kinds.number("processors", 1, 64)]
    memory_mib: Annotated[int, kinds.number("MiB", 256, 1 << 20)]
    network_device: Literal["virtio", "e1000"]
    vhost: Literal["auto", "off"]
    offloads: bool
    kernel: Annotated[str, kinds.KERNEL]
