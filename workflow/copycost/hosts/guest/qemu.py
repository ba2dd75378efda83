"""QEMU for guests: its command line, its process, and what it is told over its machine protocol.

It ends with the thread that started it.

Source: qemu-system-x86_64(1), and "QEMU QMP Reference Manual", QEMU 7.2; `/dev/kvm` and vhost-net
of the kernel.
"""

import json
import os
import re
import select
import shlex
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from copycost.errors import HostError, MeasurementStopped, TookTooLong, Unavailable
from copycost.hosts.guest.network import MACS, tap_of
from copycost.hosts.local import LocalHost
from copycost.hosts.program import Launch, LocalProgram

Accelerator = Literal["kvm", "tcg"]
NetworkDevice = Literal["virtio", "e1000"]
Message = dict[str, Any]

ARCHITECTURE = "x86_64"
PROGRAM = "qemu-system-x86_64"
AGENT_PORT = "agent"
"""Name of the line to the agent, in the guest's /dev/virtio-ports (agent.sh)."""

UP = "copycost: the guest is up"
"""What the first process says on the console once everything is set up (init.sh)."""

_KVM = Path("/dev/kvm")
_OLDEST_WITH_PLUGINS = (7, 2)
_NEWER = (
    "install QEMU 7.2, as in Debian 12, or newer; versions from 8.2 (Ubuntu 24.04) on are accepted"
    " by what they declare, but none was tried"
)
_NO_ROOM = "Initramfs unpacking failed"  # init/initramfs.c
# what the kernel says of an end, and what that is
_ENDS = {
    "Out of memory": "ran out of memory",
    "System is deadlocked on memory": "ran out of memory",  # mm/oom_kill.c
    "Kernel panic": "panicked",
}
_SHOWN = 8
_LOOK_S = 0.02
_TIME = re.compile(r"^\[ *\d+\.\d+\] ")
# what the kernel is told: say less (each character on the serial line is an exit), reboot at once
# when it panics, which QEMU makes an end of; equal addresses at each boot; and not to count timer
# interrupts against a delay loop, which an emulator on a busy host may fail ("IO-APIC + timer
# doesn't work": a panic; Documentation/admin-guide/kernel-parameters.txt)
KERNEL_ARGUMENTS = (
    "console=ttyS0", "quiet", "panic=-1", "nokaslr", "audit=0", "random.trust_cpu=on",
    "no_timer_check",
)  # fmt: skip
# The kernel copies by `rep movsb` where the processor says that is fast, and the emulator runs that
# a byte at a time.
CPUS: dict[Accelerator, str] = {"kvm": "host", "tcg": "max,-erms"}
_OFFLOAD_FEATURES = (
    "csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo", "host_tso4",
    "host_tso6", "host_ecn", "host_ufo",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GuestSpec:
    """What guests are made of: the same for all guests of a run."""

    qemu: str  # path of QEMU
    # paths of what is booted
    kernel: str
    initrd: str
    accelerator: Accelerator = "tcg"  # who runs its instructions
    vcpus: int = 1  # virtual processors [count]
    memory_bytes: int = 1 << 30  # its memory [bytes]
    network_device: NetworkDevice = "virtio"  # what its network device is
    vhost: bool = False  # whether the host's kernel moves its packets by itself (vhost-net)
    offloads: bool = True  # whether segmentation and checksums are left to the other end

    def words(
        self, name: str, command: Sequence[str], agent_fd: int | None = None, *, network: bool
    ) -> list[str]:
        """Return the command that starts a guest; the console is its standard output.

        Its name stands in the list of processes too. The command's words stand behind the kernel's
        arguments, and are handed to the first process. The line to an agent in it is a connected
        socket that QEMU inherits.
        """
        append = [*KERNEL_ARGUMENTS, *(["--", *command] if command else [])]
        words = [
            self.qemu,
            *("-name", f"copycost-{name},debug-threads=on"),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-machine", f"pc,accel={self.accelerator}"),
            *("-cpu", CPUS[self.accelerator]),
            *("-smp", str(self.vcpus)),
            *("-m", f"{self.memory_bytes >> 20}M"),
            *("-kernel", self.kernel, "-initrd", self.initrd),
            *("-append", " ".join(append)),
            *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
        ]
        if agent_fd is not None:
            words += ["-device", "virtio-serial-pci"]
            words += ["-chardev", f"socket,id={AGENT_PORT},fd={agent_fd}"]
            words += ["-device", f"virtserialport,chardev={AGENT_PORT},name={AGENT_PORT}"]
        if not network:
            return [*words, "-nic", "none"]
        # vhost and the tap's own offloads are those of virtio
        is_virtio = self.network_device == "virtio"
        vhost = "on" if self.vhost and is_virtio else "off"
        tap = f"tap,id=net,ifname={tap_of(name)},script=no,downscript=no,vhost={vhost}"
        device = f"{'virtio-net-pci' if is_virtio else 'e1000'},netdev=net,mac={MACS[name]}"
        if is_virtio and not self.offloads:
            device += "".join(f",{feature}=off" for feature in _OFFLOAD_FEATURES)
        return [*words, "-netdev", tap, "-device", f"{device},romfile="]


class Qemu(LocalProgram):
    """A QEMU that runs; descriptors that it inherits stay the caller's."""

    def __init__(
        self, words: Sequence[str], fds: Sequence[int] = (), *, control: bool = False
    ) -> None:
        launch = Launch(tuple(words), words[0], control=control, dies_with_us=True)
        super().__init__(launch, fds)

    def console(self) -> list[str]:
        """Return the lines of its guest's console, then what QEMU itself has said."""
        lines = f"{self.output()}\n{self.errors()}".split("\n")
        return [line.strip("\r\0") for line in lines if line.strip("\r\0 ")]

    def first(self, words: str) -> str | None:
        """Return the first line that has these words, without the kernel's time; None for none."""
        found = next((line for line in self.console() if words in line), None)
        return None if found is None else _TIME.sub("", found)

    def last_lines(self) -> str:
        """Return the last lines as the end of a message."""
        return " | ".join(self.console()[-_SHOWN:]) or "nothing"

    def close(self) -> None:
        """End it at once, and give back the descriptors."""
        self.end()
        super().close()


class RunningGuest(Qemu):
    """A guest's QEMU; parameters as of `GuestSpec.words`."""

    def __init__(
        self,
        spec: GuestSpec,
        name: str,
        command: Sequence[str],
        agent_fd: int | None = None,
        *,
        network: bool = False,
    ) -> None:
        self._began_s = time.monotonic()
        self.boot_s: float | None = None
        fds = [] if agent_fd is None else [agent_fd]
        super().__init__(spec.words(name, command, agent_fd, network=network), fds)

    def await_up(self, timeout_s: float, stop_fds: Sequence[int] = ()) -> None:
        """Wait until the first process has set everything up.

        HostError if the guest ends before, is not there in time, or has no room for its files;
        MeasurementStopped once one of `stop_fds` is readable: nobody waits for it any more.
        """
        deadline_s = time.monotonic() + timeout_s
        while UP not in self.output():
            if self.exit_code is not None:
                raise HostError(self.why_ended())
            if time.monotonic() >= deadline_s:
                raise HostError(self._told(f"was not up within {timeout_s:g} s"))
            ready, _, _ = select.select([self.ended_fd, *stop_fds], [], [], _LOOK_S)
            if set(ready).intersection(stop_fds):
                raise MeasurementStopped("the run ended while a guest booted")
        if said := self.first(_NO_ROOM):  # its kernel goes on with what there was room for
            raise HostError(self._told(f"ran out of memory ({said})"))
        self.boot_s = time.monotonic() - self._began_s

    def why_ended(self) -> str:
        """Return how a guest that has ended came to it, with what it said last."""
        code = self.exit_code or 0
        for words, how in _ENDS.items():
            if said := self.first(words):
                return self._told(f"{how} ({said})")
        if code < 0:
            name = signal.Signals(-code).name
            return self._told(f"was ended by signal {-code} to QEMU ({name})")
        return self._told(f"ended with QEMU's exit status {code}")

    def _told(self, how: str) -> str:
        return f"the guest {how}; the last lines of its console: {self.last_lines()}"


class Emulator(Qemu):
    """A QEMU whose control line is its machine protocol; every wait ends at one deadline."""

    def __init__(self, words: Sequence[str], timeout_s: float) -> None:
        super().__init__(words, control=True)
        self._deadline_s = time.monotonic() + timeout_s

    def tell(self, command: str, **arguments: object) -> None:
        """Have QEMU do something; HostError if it refuses, ends, or takes too long."""
        self.say(json.dumps({"execute": command, "arguments": arguments}))
        answer = self.wait_for(lambda message: "return" in message or "error" in message)
        if "error" in answer:
            raise HostError(f"QEMU refused {command}: {answer['error']['desc']}")

    def await_stop(self) -> None:
        """Wait until the guest has stopped its machine.

        HostError if it has switched it off instead, as after a failure, or takes too long.
        """
        self.wait_for(lambda message: message.get("event") == "STOP")

    def save(self, state: Path) -> None:
        """Save the state of processor and devices; the memory is a file already.

        Its usual way, a migration, has a thread of its own, which does not take turns with others.
        """
        self.tell("xen-save-devices-state", filename=str(state.resolve()))

    def load(self, state: Path) -> None:
        """Load such a state; HostError if it is of another machine, or another QEMU."""
        self.tell(
            "migrate-set-capabilities", capabilities=[{"capability": "events", "state": True}]
        )
        self.tell("migrate-incoming", uri=f"exec:cat {shlex.quote(str(state.resolve()))}")
        end = self.wait_for(
            lambda said: (
                said.get("event") == "MIGRATION"
                and said["data"]["status"] in ("completed", "failed")
            )
        )
        if end["data"]["status"] == "failed":
            raise HostError(f"QEMU cannot load {state}; it said last: {self.last_words()}")

    def last_words(self) -> str:
        """Return the last lines of the console, or the one that tells of a kernel's panic."""
        return self.first("Kernel panic") or self.last_lines()

    def wait_for(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the next message that is wanted; the others are events that nobody waits for."""
        while True:
            code = self.exit_code  # what it said before its end is read first
            if (line := self.read_line()) is not None:
                message: Message = json.loads(line)
                if wanted(message):
                    return message
            elif code is not None:
                raise HostError(
                    f"QEMU ended with exit status {code}; it said last: {self.last_words()}"
                )
            elif (left_s := self._deadline_s - time.monotonic()) <= 0:
                raise TookTooLong(
                    "the simulated guest took too long; the last lines of its console:"
                    f" {self.last_words()}"
                )
            else:
                select.select([self.control_fd, self.ended_fd], [], [], left_s)


@contextmanager
def running(words: Sequence[str], timeout_s: float) -> Iterator[Emulator]:
    """Run QEMU for so long at most, and end it at the end of the block.

    Among its words, `copycost.hosts.program.CONTROL` stands for the line of its machine protocol.
    """
    with closing(Emulator(words, timeout_s)) as emulator:
        emulator.wait_for(lambda message: "QMP" in message)
        emulator.tell("qmp_capabilities")
        yield emulator


def require_kvm_device() -> None:
    """Raise Unavailable where there is no device of KVM, or none that we may open."""
    if not _KVM.exists():
        raise Unavailable(
            f"there is no {_KVM}",
            "sudo modprobe kvm_intel (or kvm_amd); of a virtual machine, allow nested ones",
        )
    if not os.access(_KVM, os.R_OK | os.W_OK):
        raise Unavailable(f"{_KVM} may not be opened", "sudo adduser $USER kvm, then log in again")


def find_qemu() -> str:
    """Return the path of QEMU; Unavailable without it, or on another architecture."""
    machine = os.uname().machine
    if machine != ARCHITECTURE:
        raise Unavailable(
            f"guests are made for {ARCHITECTURE} alone, and this machine is {machine}",
            "measure guests on another machine",
        )
    found = LocalHost().find_tool(PROGRAM)
    if found is None:
        raise Unavailable(
            f"the command {PROGRAM} was not found", "install the package qemu-system-x86"
        )
    return found


def require_plugins(said: str | None = None) -> None:
    """Raise Unavailable unless QEMU takes plugins of the interface that ours is written for.

    By default QEMU is run for what is `said` of its version and its options.
    """
    text = LocalHost().run([find_qemu(), "-help"]).stdout if said is None else said
    version = re.search(r"version (\d+)\.(\d+)", text)
    if version is None or tuple(map(int, version.groups())) < _OLDEST_WITH_PLUGINS:
        found = version[0] if version else "no version number"
        raise Unavailable(f"QEMU has {found}, and plugins that count need 7.2 or newer", _NEWER)
    if not re.search(r"^-plugin ", text, re.MULTILINE):
        raise Unavailable("this QEMU was built without plugins", "install the distribution's QEMU")
