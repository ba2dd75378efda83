"""What guests are made of: the same for all guests of a run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from copycost.hosts.guest.qemu import Accelerator, NetworkDevice


@dataclass(frozen=True, slots=True)
class GuestSpec:
    """What a guest is made of."""

    qemu: str  # path of QEMU
    # what is booted
    kernel: Path
    initrd: Path
    accelerator: Accelerator  # who runs its instructions
    vcpus: int  # virtual processors [count]
    memory_bytes: int  # its memory [bytes]
    network_device: NetworkDevice  # what its network device is
    vhost: bool  # whether the host's kernel moves its packets by itself (vhost-net)
    offloads: bool  # whether segmentation and checksums are left to the other end

    def as_plain(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"kernel": str(self.kernel), "initrd": str(self.initrd)}

    def for_record(self) -> dict[str, Any]:
        """Return what a record says: all but where things lie."""
        used = self.as_plain()
        return {name: used[name] for name in used if name not in ("qemu", "kernel", "initrd")}

    def absolute(self) -> Self:
        """Return the same with paths that hold in any folder."""
        return replace(self, kernel=self.kernel.absolute(), initrd=self.initrd.absolute())

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """Return what `as_plain` gave."""
        paths = {name: Path(values[name]) for name in ("kernel", "initrd")}
        return cls(**{**values, **paths})
