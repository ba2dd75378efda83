"""What the readers make of the files of other hosts."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from unit.conftest import HostTree

from copycost.hosts.facts.cpu import read_cpu, virtualisation
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.hosts.facts.identity import host_identity
from copycost.hosts.facts.kernel import read_kernel, read_memory, read_net
from copycost.hosts.facts.tools import install_command

HYBRID = {
    "model": "12th Gen Intel(R) Core(TM) i7-1260P", "cpus_online": 16, "cores": 12,
    "threads_per_core": 2, "core_types": {"core": "0-7", "atom": "8-15"},
    "caches": {"l1d_bytes": 48 << 10, "l2_bytes": 1280 << 10, "llc_bytes": 18 << 20},
    "governor": "powersave", "turbo": True,
    "virtualisation": "none",
}  # fmt: skip
OLD_KERNEL = {  # with other names of files
    "vendor": "AuthenticAMD", "cores": 8, "threads_per_core": 2, "numa_nodes": 4,
    "governor": "performance+schedutil", "turbo": False,
}  # fmt: skip
BOARD = {
    "model": "Cortex-A72 (Raspberry Pi 4 Model B Rev 1.4)", "vendor": "ARM", "cores": 4,
    "virtualisation": "none", "caches": {"l1d_bytes": None, "l2_bytes": None, "llc_bytes": None},
}  # fmt: skip
VIRTUAL = {"virtualisation": "unnamed hypervisor", "governor": None}  # has no firmware tables
NOT_ON_BOARD = {"caches.l1d_bytes", "caches.l2_bytes", "caches.llc_bytes", "numa_nodes", "turbo"}


@pytest.mark.parametrize(
    ("name", "machine", "expected", "unknown"),
    [
        ("intel_hybrid_laptop", "x86_64", HYBRID, set()),
        ("amd_server", "x86_64", OLD_KERNEL, set()),
        ("arm_board", "aarch64", BOARD, NOT_ON_BOARD),
        ("virtual_machine", "x86_64", VIRTUAL, {"governor", "turbo"}),
    ],
)
def test_the_processors_of_a_host_are_read(
    host_tree: HostTree, name: str, machine: str, expected: dict[str, object], unknown: set[str]
) -> None:
    unknowns = Unknowns()
    cpu = read_cpu(host_tree(name), machine, unknowns)
    assert {fact: cpu[fact] for fact in expected} == expected
    assert set(unknowns.reasons) == {f"cpu.{fact}" for fact in unknown}


def test_a_guest_is_named_by_its_firmware_unless_its_processor_is_bare() -> None:
    files = {"sys/class/dmi/id/sys_vendor": "QEMU", "sys/class/dmi/id/product_name": "KVM Machine"}
    host = cast("HostFiles", SimpleNamespace(text=files.get))
    flags = "flags\t\t: fpu avx2"
    assert virtualisation(host, "x86_64", f"{flags} hypervisor\n") == "kvm"
    assert virtualisation(host, "x86_64", f"{flags}\n") == "none"  # as in a cloud
    assert virtualisation(host, "aarch64", "") == "kvm"


@pytest.mark.parametrize(
    ("name", "hz", "irq_time", "preempt"),
    [
        ("intel_hybrid_laptop", 1000, True, "voluntary"),
        ("amd_server", 250, False, "voluntary"),  # tsc=noirqtime on the command line
        ("arm_board", 250, False, "full"),
        ("virtual_machine", 250, False, "none"),
    ],
)
def test_kernel_options_come_from_wherever_the_config_lies(
    host_tree: HostTree, name: str, hz: int, irq_time: bool, preempt: str
) -> None:
    unknown = Unknowns()
    kernel = read_kernel(host_tree(name), unknown)
    expected = {"hz": hz, "irq_time_accounting": irq_time, "preempt": preempt}
    assert {fact: kernel[fact] for fact in expected} == expected
    assert unknown.reasons == {}


def test_the_command_line_counts_and_a_config_may_be_missing(host_tree: HostTree) -> None:
    files = host_tree("intel_hybrid_laptop")
    (files.root / "proc/cmdline").write_text("ro preempt=full\n")
    assert read_kernel(files, Unknowns())["preempt"] == "full"
    files, unknown = host_tree("arm_board"), Unknowns()
    (files.root / "proc/config.gz").write_bytes(b"not gzip")
    kernel = read_kernel(files, unknown)
    assert (kernel["hz"], kernel["irq_time_accounting"]) == (None, None)
    assert "/proc/config.gz" in unknown.reasons["kernel.hz"]


def test_memory_is_rounded_and_settings_are_lists(host_tree: HostTree) -> None:
    memory = read_memory(host_tree("virtual_machine"), 65536, Unknowns())
    assert memory["total_bytes"] == (24684084 >> 10) << 20
    assert (memory["memlock_bytes"], memory["memlock_unlimited"]) == (65536, False)
    net = read_net(host_tree("amd_server"), Unknowns())
    assert (net["tcp_rmem"], net["optmem_max"]) == ([4096, 131072, 6291456], 20480)
    assert net["congestion_available"] == ["reno", "bbr"]


def test_distributions_with_apt_have_their_own_names_of_packages(
    host_tree: HostTree, tmp_path: Path
) -> None:
    files = [host_tree("intel_hybrid_laptop"), host_tree("amd_server")]
    ubuntu = "linux-tools-generic linux-tools-6.8.0-45-generic"
    assert [install_command(one, "perf") for one in files] == [
        f"sudo apt-get install {name}" for name in (ubuntu, "linux-perf")
    ]
    (tmp_path / "etc").mkdir()
    for os_release, command in (
        ("ID=linuxmint\nID_LIKE=ubuntu", "sudo apt-get install iproute2"),
        ("ID=plan9", "install the package that contains ip"),
    ):
        (tmp_path / "etc/os-release").write_text(os_release + "\n")
        assert install_command(HostFiles(tmp_path), "ip") == command


def test_the_identity_changes_with_a_host_but_not_with_what_moves_by_itself(
    host_tree: HostTree,
) -> None:
    files = host_tree("intel_hybrid_laptop")
    before = host_identity(files)
    cpuinfo = files.root / "proc/cpuinfo"
    cpuinfo.write_text(re.sub(r"cpu MHz\t\t: \d", "cpu MHz\t\t: 9", cpuinfo.read_text()))
    (files.root / "proc/meminfo").write_text("MemTotal: 1 kB\nMemFree: 0 kB\n")
    assert host_identity(files) == before
    (files.root / "proc/sys/kernel/osrelease").write_text("6.11.0-9-generic\n")
    governor = "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
    (files.root / governor).write_text("performance\n")
    after = host_identity(files)
    assert {key for key in before if before[key] != after[key]} == {"kernel_release", "governor"}
    assert after["governor"] == "performance+powersave"
