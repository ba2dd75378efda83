"""The packages of the system that a run, its guests, and the tests need; apt installs them."""

import os
import platform
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from copycost.cli.environment import LOG, RunError, find_python, has_python, in_log, say, works
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.facts.tools import distribution_family

_PERF, _GUESTS_MADE = "perf", Path("results/guest/made.json")


def is_ubuntu() -> bool:
    """Tell whether this is Ubuntu, or derived from it."""
    return distribution_family(HostFiles()) == "ubuntu"


def find_perf() -> bool:
    """Put a perf that works first on the PATH; tell whether there is one.

    Ubuntu's only looks for that of the running kernel, and fails without it (in a container, say).
    """
    if works("perf", "--version"):
        return True
    for perf in sorted(Path("/usr/lib/linux-tools").glob("*/perf")):
        if works(str(perf), "--version"):
            os.environ["PATH"] = f"{perf.parent}:{os.environ['PATH']}"
            return True
    return False


def _perf_package() -> str:
    own = f"linux-tools-{platform.release()}"
    if not is_ubuntu():
        return "linux-perf"
    return own if works("apt-cache", "show", own) else "linux-tools-generic"


def _has_static_busybox() -> bool:
    path = which("busybox")
    return path is not None and not works("ldd", path)


def _clang_runtime() -> str:
    """Return the package of the sanitizers' runtime, which clang has apart."""
    command = ["clang", "-dumpversion"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return f"libclang-rt-{said.partition('.')[0]}-dev"


def _has_clang_runtime() -> bool:
    with TemporaryDirectory() as folder:
        source = Path(folder, "a.c")
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        return works("clang", "-fsanitize=address,undefined", str(source), "-o", f"{folder}/a")


Needs = Mapping[str, Callable[[], object]]
"""Packages, and what tells whether each is there."""


def _commands(pairs: str) -> Needs:
    """Return packages by the command that is theirs, from a text ``package:command ...``."""
    split = (pair.partition(":") for pair in pairs.split())
    return {package: partial(which, command) for package, _, command in split}


_RUN: Needs = {
    **_commands("gcc:cc util-linux:setpriv iproute2:ip ethtool:ethtool iperf3:iperf3 nftables:nft"),
    "libc6-dev": Path("/usr/include/stdio.h").exists,
    "liburing-dev": Path("/usr/include/liburing.h").exists,
    _PERF: find_perf,
    "python3-venv": lambda: has_python() or find_python(),
}
_GUESTS: Needs = {
    **_commands("qemu-system-x86:qemu-system-x86_64"),
    "busybox-static": _has_static_busybox,
    "zstd": lambda: not is_ubuntu() or which("zstd"),  # its kernels have their drivers packed so
}
_TESTS: Needs = {
    **_commands("clang:clang shellcheck:shellcheck git:git cpulimit:cpulimit"),
    # not where it would be started once it is installed
    "openssh-server": lambda: which("sshd") or Path("/run/systemd/system").exists(),
    "chromium": lambda: is_ubuntu() or which("chromium"),  # there it only asks for snapd
    "fonts-dejavu-core": Path("/usr/share/fonts/truetype").exists,  # for the browser
}
_SLURM = _commands("slurmctld:slurmctld slurmd:slurmd slurm-client:sbatch munge:munged")


def set_up_run() -> None:
    """Install what a run needs; what is missing still costs a testbed or a column."""
    _install(_RUN)
    if not find_perf():
        say("no perf, so no counters: the cost per byte comes from the process clock")
    for package, what in (("gcc", "compiler"), ("libc6-dev", "headers")):
        if not _RUN[package]():
            raise RunError(f"no C {what}, so the measured programs cannot be built")


def set_up_guests() -> None:
    """Install what guests need; where it is missing still, their cells are skipped."""
    if platform.machine() != "x86_64":
        return
    # of the guests' kernel only the lists are needed: it is fetched, and never installed
    kernels = ("linux-image-cloud-amd64", "linux-image-virtual")
    listed = any(works("apt-cache", "show", name) for name in kernels)
    here = os.access(f"/boot/vmlinuz-{platform.release()}", os.R_OK)
    _install(_GUESTS, lists=not here and not listed)
    if _GUESTS_MADE.is_file() and '"reason":' in _GUESTS_MADE.read_text(encoding="utf-8"):
        _GUESTS_MADE.unlink()  # what could not be had then is tried once more


def set_up_tests(*, with_slurm: bool) -> None:
    """Install what the checks and tests need; a test skips where it is missing still."""
    _install(_TESTS)
    set_up_guests()
    if which("clang"):
        _install({_clang_runtime(): _has_clang_runtime})
    if with_slurm:
        _install(_SLURM)


def set_up_bench() -> None:
    """Install what the benchmark compares with."""
    _install(_commands("sockperf:sockperf"))


def _install(needs: Needs, *, lists: bool = False) -> None:
    """Install what is missing, or name it with the command that would."""
    missing = [package for package, is_there in needs.items() if not is_there()]
    if not missing and not lists:
        return
    packages = [_perf_package() if name == _PERF else name for name in missing]
    named = " ".join(packages)
    how = None
    if not which("apt-get"):
        how = ", as Debian calls these packages; install them as this distribution does"
    elif os.geteuid() != 0 and not works("sudo", "-n", "true"):
        how = f". To install: sudo apt-get install {named}"
    if how is not None:
        if packages:
            say(f"missing here: {named}{how}")
        return
    if not _apt_get("updating the lists of system packages", "update"):
        say(f"going on with the lists as they are; apt-get's words are in {LOG}")
    if packages and not _apt_install(*packages):
        for package in packages:  # one that does not exist must not cost the others
            if len(packages) == 1 or not _apt_install(package):
                say(f"could not install {package}; apt-get's words are in {LOG}")


def _apt_install(*packages: str) -> bool:
    words = ("install", "--no-install-recommends", "-y", *packages)
    return _apt_get(f"installing {' '.join(packages)}", *words)


def _apt_get(what: str, *words: str) -> bool:
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    quietly = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    return in_log(what, [*as_root, *quietly, "-o", "DPkg::Lock::Timeout=120", *words])
