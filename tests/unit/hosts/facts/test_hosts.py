"""What the readers make of the files of other hosts."""

from pathlib import Path

import pytest
from unit.conftest import HostTree

from copycost.hosts.facts.cpu import Caches, read_cpu
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.hosts.facts.identity import host_identity
from copycost.hosts.facts.kernel import read_kernel
from copycost.hosts.facts.net import read_memory, read_net
from copycost.hosts.facts.packages import distribution_family, install_command


def test_a_hybrid_laptop_has_two_kinds_of_core_and_turbo(host_tree: HostTree) -> None:
    unknown = Unknowns()
    cpu = read_cpu(host_tree("intel_hybrid_laptop"), "x86_64", unknown)
    assert cpu.model == "12th Gen Intel(R) Core(TM) i7-1260P"
    assert (cpu.cpus_online, cpu.cores, cpu.threads_per_core) == (16, 12, 2)
    assert cpu.core_types == {"core": "0-7", "atom": "8-15"}
    assert cpu.caches == Caches(48 << 10, 1280 << 10, 18 << 20)
    assert (cpu.governor, cpu.turbo, cpu.virtualisation) == ("powersave", True, "none")
    assert unknown.reasons == {}


def test_a_server_with_an_old_kernel_is_read_by_its_old_file_names(host_tree: HostTree) -> None:
    unknown = Unknowns()
    cpu = read_cpu(host_tree("amd_server"), "x86_64", unknown)
    assert (cpu.vendor, cpu.cores, cpu.threads_per_core, cpu.numa_nodes) == (
        "AuthenticAMD",
        8,
        2,
        4,
    )
    assert cpu.governor == "performance+schedutil"
    assert cpu.turbo is False
    assert unknown.reasons == {}


def test_an_arm_board_is_named_by_part_number_and_board(host_tree: HostTree) -> None:
    unknown = Unknowns()
    cpu = read_cpu(host_tree("arm_board"), "aarch64", unknown)
    assert cpu.model == "Cortex-A72 (Raspberry Pi 4 Model B Rev 1.4)"
    assert (cpu.vendor, cpu.cores, cpu.virtualisation) == ("ARM", 4, "none")
    assert cpu.caches == Caches(None, None, None)
    assert set(unknown.reasons) == {
        "cpu.caches.l1d_bytes",
        "cpu.caches.l2_bytes",
        "cpu.caches.llc_bytes",
        "cpu.numa_nodes",
        "cpu.turbo",
    }


def test_a_virtual_machine_without_firmware_tables_is_still_seen_as_one(
    host_tree: HostTree,
) -> None:
    unknown = Unknowns()
    cpu = read_cpu(host_tree("virtual_machine"), "x86_64", unknown)
    assert cpu.virtualisation == "unnamed hypervisor"
    assert cpu.governor is None
    assert "cpufreq" in unknown.reasons["cpu.governor"]


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
    assert (kernel.hz, kernel.irq_time_accounting, kernel.preempt) == (hz, irq_time, preempt)
    assert unknown.reasons == {}


def test_the_command_line_overrules_a_dynamic_preemption_model(host_tree: HostTree) -> None:
    files = host_tree("intel_hybrid_laptop")
    (files.root / "proc/cmdline").write_text("ro preempt=full\n")
    assert read_kernel(files, Unknowns()).preempt == "full"


def test_a_kernel_without_config_gives_nulls_with_the_reason(host_tree: HostTree) -> None:
    files = host_tree("arm_board")
    (files.root / "proc/config.gz").write_bytes(b"not gzip")
    unknown = Unknowns()
    kernel = read_kernel(files, unknown)
    assert kernel.hz is None
    assert kernel.irq_time_accounting is None
    assert "/proc/config.gz" in unknown.reasons["kernel.hz"]


def test_total_memory_is_rounded_to_mib(host_tree: HostTree) -> None:
    memory = read_memory(host_tree("virtual_machine"), 65536, Unknowns())
    assert memory.total_bytes is not None
    assert memory.total_bytes % (1 << 20) == 0
    assert (memory.memlock_bytes, memory.memlock_unlimited) == (65536, False)


def test_tcp_settings_are_lists_of_numbers_and_names(host_tree: HostTree) -> None:
    net = read_net(host_tree("amd_server"), Unknowns())
    assert net.tcp_rmem == [4096, 131072, 6291456]
    assert net.congestion_available == ["reno", "bbr"]
    assert net.optmem_max == 20480


@pytest.mark.parametrize(
    ("name", "family", "perf_package"),
    [
        ("intel_hybrid_laptop", "ubuntu", "linux-tools-generic linux-tools-6.8.0-45-generic"),
        ("amd_server", "debian", "linux-perf"),
    ],
)
def test_each_distribution_has_its_own_name_for_perf(
    host_tree: HostTree, name: str, family: str, perf_package: str
) -> None:
    files = host_tree(name)
    assert distribution_family(files) == family
    assert install_command(files, "perf") == f"sudo apt-get install {perf_package}"


@pytest.mark.parametrize(
    ("os_release", "command"),
    [
        ('ID="rocky"\nID_LIKE="rhel centos fedora"', "sudo dnf install iproute"),
        ("ID=linuxmint\nID_LIKE=ubuntu", "sudo apt-get install iproute2"),
        ("ID=plan9", "install the package that contains ip"),
    ],
)
def test_relatives_of_a_distribution_install_as_it_does(
    tmp_path: Path, os_release: str, command: str
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(os_release + "\n")
    assert install_command(HostFiles(tmp_path), "ip") == command


def test_the_identity_of_this_host_is_the_same_when_asked_twice() -> None:
    identity = host_identity()
    assert identity == host_identity()
    assert identity["kernel_release"]
    assert identity["machine"]


def test_the_identity_changes_with_the_kernel_and_the_governor(host_tree: HostTree) -> None:
    files = host_tree("intel_hybrid_laptop")
    before = host_identity(files)
    (files.root / "proc/sys/kernel/osrelease").write_text("6.11.0-9-generic\n")
    governor = "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
    (files.root / governor).write_text("performance\n")
    after = host_identity(files)
    assert {key for key in before if before[key] != after[key]} == {"kernel_release", "governor"}
    assert after["governor"] == "performance+powersave"


def test_the_identity_ignores_what_moves_by_itself(host_tree: HostTree) -> None:
    files = host_tree("virtual_machine")
    before = host_identity(files)
    cpuinfo = files.root / "proc/cpuinfo"
    cpuinfo.write_text(cpuinfo.read_text().replace("cpu MHz\t\t: 2596", "cpu MHz\t\t: 1234"))
    (files.root / "proc/meminfo").write_text("MemTotal: 1 kB\nMemFree: 0 kB\n")
    assert host_identity(files) == before


def test_only_flaws_that_the_processor_has_count_as_mitigations(host_tree: HostTree) -> None:
    identity = host_identity(host_tree("amd_server"))
    assert identity["mitigations"] == {
        "retbleed": "Mitigation: untrained return thunk; SMT enabled with STIBP protection"
    }
    assert identity["namespace_switches"] == {
        "max_user_namespaces": True,
        "max_net_namespaces": True,
        "unprivileged_userns_clone": False,
    }
