"""The section `virtual` of the configuration: what the guests of the testbeds ``vm_*`` are."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Virtual:
    """What guests are made of."""

    accelerator: Literal["auto", "kvm", "tcg"]
    vcpus: int
    memory_mib: int
    network_device: Literal["virtio", "e1000"]
    vhost: Literal["auto", "off"]
    offloads: bool
    kernel: str
