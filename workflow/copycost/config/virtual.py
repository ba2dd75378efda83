"""The section `virtual` of the configuration: what the guests of the testbeds ``vm_*`` are."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Virtual:
    """What guests are made of.

    Attributes
    ----------
    accelerator
        Who runs a guest's instructions: the processor (kvm) or an emulator (tcg); auto takes the
        first where a guest really comes up with it.
    vcpus
        Virtual processors of each guest [count].
    memory_mib
        Memory of each guest [MiB].
    network_device
        What its network device is.
    vhost
        Whether the host's kernel moves its packets by itself where it can (auto), or never.
    offloads
        Whether segmentation and checksums are left to the other end.
    kernel
        ``auto``, or the path of a kernel.
    """

    accelerator: Literal["auto", "kvm", "tcg"]
    vcpus: int
    memory_mib: int
    network_device: Literal["virtio", "e1000"]
    vhost: Literal["auto", "off"]
    offloads: bool
    kernel: str
