"""Whether caches can be simulated here: QEMU with plugins, our plugin, what guests are made of."""

import re
from collections.abc import Callable, Iterable

from copycost.build.toolchain import (
    INCLUDE_FLAGS,
    LANGUAGE_FLAGS,
    run_compiler,
    translation_units,
)
from copycost.checkout import ROOT
from copycost.errors import CopycostError, Unavailable
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.needs import Need
from copycost.hosts.guest.qemu import PROGRAM, find_qemu
from copycost.hosts.local import LocalHost
from copycost.measure.simulated.guest import TOOLS

_OF_GUESTS = ("busybox", "kernel")
_OLDEST_QEMU = (7, 2)
_NEWER = (
    "install QEMU 7.2, as in Debian 12, or newer; versions from 8.2 (Ubuntu 24.04) on are accepted"
    " by what they declare, but none was tried"
)


def simulation_needs(guests: Iterable[Need]) -> list[Need]:
    """Return what simulated counts take; parts of what `guest_needs` says are needed here too."""
    return [
        _tried("QEMU with plugins", "runs the guest", require_plugins),
        _tried("plugin", "counts in it", _check_plugin),
        *(need for need in guests if need.name in _OF_GUESTS),
        *(
            Need(name, "makes the testbeds in it", LocalHost().find_tool(name),
                 remedy="install iproute2 and nftables")
            for name in TOOLS
        ),
    ]  # fmt: skip


def require_plugins(said: str | None = None) -> None:
    """Raise Unavailable unless QEMU takes plugins of the interface that ours is written for.

    By default QEMU is run for what is `said` of its version and its options.
    """
    text = LocalHost().run([find_qemu(), "-help"]).stdout if said is None else said
    version = re.search(r"version (\d+)\.(\d+)", text)
    if version is None or tuple(map(int, version.groups())) < _OLDEST_QEMU:
        found = version[0] if version else "no version number"
        raise Unavailable(f"QEMU has {found}, and plugins that count need 7.2 or newer", _NEWER)
    if not re.search(r"^-plugin ", text, re.MULTILINE):
        raise Unavailable("this QEMU was built without plugins", "install the distribution's QEMU")


def _check_plugin() -> None:
    """Raise HostError unless the compiler takes the plugin: it has the headers that this takes."""
    units = translation_units("simulated_plugin", None, ROOT)
    flags = [*LANGUAGE_FLAGS, *INCLUDE_FLAGS, "-fsyntax-only"]
    run_compiler(["cc", *flags, *map(str, units)], "simulated_plugin", ROOT)


def _tried(name: str, use: str, require: Callable[[], None]) -> Need:
    try:
        require()
    except Unavailable as missing:
        return Need(name, use, None, True, missing.reason, missing.remedy)
    except CopycostError as failure:
        return Need(name, use, None, True, str(failure), "install gcc and its headers")
    return Need(name, use, describe_tool(PROGRAM).version or "yes")
