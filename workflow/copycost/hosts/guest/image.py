"""The first file system of a guest: an archive that the kernel unpacks into memory.

Written here and not by cpio(1), so that the same content gives the same bytes whoever made the
files and when; and not compressed, since unpacking takes an emulated guest longer than reading.

Source: Documentation/driver-api/early-userspace/buffer-format.rst, format "newc"; ld.so(8), ldd(1);
gdb's documentation, "Debugging Information in Separate Files", on where the names of a stripped
library's functions lie.
"""

import importlib.util
import marshal
import re
import stat
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from copycost.errors import Unavailable
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.kernel import Kernel
from copycost.hosts.local import LocalHost
from copycost.hosts.remote.bundle import agent_files, agent_modules

INIT = Path(__file__).with_name("init.sh")
AGENT = Path(__file__).with_name("agent.sh")
CONSOLE_DRIVERS = ("virtio_pci", "virtio_console")
"""What the line to the agent needs."""

_FOLDERS = ("/proc", "/sys", "/dev", "/tmp", "/root", "/run", "/var/tmp")
# files of the kernel below /proc/sys, and what is written there
_SETTINGS = {
    "net/core/optmem_max": "131072",
    # who measures as root counts everything
    "kernel/perf_event_paranoid": "-1",
    "kernel/kptr_restrict": "0",
    # a guest without memory ends, and says so on its console
    "vm/panic_on_oom": "1",
}

_LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_MISSING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
_C_LIBRARY = "libc.so.6"
_SYMBOLS = Path("/usr/lib/debug/.build-id")
# of a note in ELF: bytes of its name and of what it says, its type, its name; then the build's id
_BUILD_ID = b"".join(number.to_bytes(4, "little") for number in (4, 20, 3)) + b"GNU\0"
# by which the loader finds libraries in folders that are not its own
_LOADER_CACHE = "/etc/ld.so.cache"


class Archive:
    """Files by their path in the guest; folders come by themselves."""

    def __init__(self) -> None:
        self._entries: dict[PurePosixPath, tuple[int, bytes]] = {}

    def add(self, path: str, content: bytes, mode: int = 0o644, kind: int = stat.S_IFREG) -> None:
        """Add a file, or what else is of a kind (inode(7))."""
        self._entries["/" / PurePosixPath(path)] = kind | mode, content

    def add_link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self.add(path, target.encode(), 0o777, stat.S_IFLNK)

    def add_folder(self, path: str) -> None:
        """Add an empty folder."""
        self.add(path, b"", 0o755, stat.S_IFDIR)

    def add_copy(self, source: Path, path: str | None = None) -> None:
        """Add a file of this machine, where it is here unless said otherwise."""
        if not self.has(path or str(source)):
            mode = stat.S_IMODE(source.stat().st_mode)
            self.add(path or str(source), source.read_bytes(), mode)

    def add_program(self, program: Path, path: str | None = None) -> None:
        """Add a program, or a library, with all the libraries that it needs."""
        self.add_copy(program, path)
        for file in (*libraries_of(program), _LOADER_CACHE):
            if Path(file).exists():
                self.add_copy(Path(file))

    def add_python(self, modules: Iterable[Path]) -> None:
        """Add the interpreter, and some modules of the standard library."""
        major, minor, *_ = sys.version_info
        interpreter = Path(sys.base_prefix, "bin", f"python{major}.{minor}")
        if not interpreter.exists():
            interpreter = Path(sys.executable).resolve()
        self.add_program(interpreter)
        self.add_link("/bin/python3", str(interpreter))
        for path in modules:
            if path.suffix == ".py":
                self.add_module(path)
            else:
                self.add_program(path)
        # by this folder the interpreter knows where its library is
        self.add_folder(f"{sysconfig.get_path('stdlib')}/lib-dynload")

    def add_module(self, module: Path, path: str | None = None) -> None:
        """Add a module, where it is here unless said otherwise, and what it is compiled to.

        The guest would compile it at every boot. The form is the one that is taken without a look
        at the file (PEP 552).
        """
        inside, text = path or str(module), module.read_bytes()
        code = compile(text, inside, "exec", dont_inherit=True)
        unchecked = (1).to_bytes(4, "little")
        compiled = importlib.util.MAGIC_NUMBER + unchecked + bytes(8) + marshal.dumps(code)
        self.add(inside, text)
        self.add(importlib.util.cache_from_source(inside), compiled)

    def has(self, path: str) -> bool:
        """Return whether there is something at a path."""
        return "/" / PurePosixPath(path) in self._entries

    def write(self, target: Path) -> None:
        """Write it, all at once or not at all."""
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.new")
        with temporary.open("wb") as file:
            file.writelines(self._parts())
        temporary.replace(target)

    def _parts(self) -> Iterator[bytes]:
        folders = {folder for path in self._entries for folder in list(path.parents)[:-1]}
        entries = {**dict.fromkeys(folders, (stat.S_IFDIR | 0o755, b"")), **self._entries}
        # a folder comes before what is in it
        for number, (path, (mode, content)) in enumerate(sorted(entries.items()), 1):
            yield _entry(number, str(path)[1:], mode, content)
        # without it the first process has no output
        if PurePosixPath("/dev") in entries:
            console = stat.S_IFCHR | 0o600
            yield _entry(len(entries) + 1, "dev/console", console, b"", device=(5, 1))
        yield _entry(0, "TRAILER!!!", 0, b"")


def _entry(
    number: int, name: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)
) -> bytes:
    """Return an entry: a header of numbers of eight hexadecimal digits, the name, the content."""
    written = name.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, device that it is on (2) and is (2), name, check
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(written), 0)
    head = b"070701" + b"".join(b"%08X" % value for value in fields) + written
    return b"".join(part + bytes(-len(part) % 4) for part in (head, content))


class GuestImage(Archive):
    """A file system that is being put together, for a kernel that boots it.

    The drivers are loaded in their order, each behind what it depends on; `init` is the first
    process, a script of busybox's shell.
    """

    def __init__(self, kernel: Kernel, drivers: Sequence[str], init: Path = INIT) -> None:
        super().__init__()
        self.tools: list[str] = []
        for folder in _FOLDERS:
            self.add_folder(folder)
        self.add("/init", init.read_bytes(), 0o755)
        self.add_copy(find_busybox(), "/bin/busybox")
        for name in ("sh", "kill", "sleep", "uname", "cat", "rmdir"):
            self.add_link(f"/bin/{name}", "busybox")
        modules = kernel.in_loading_order(drivers)
        for name, content in modules.items():
            self.add(f"/modules/{name}.ko", content)
        self.add("/modules/order", "".join(f"{name}\n" for name in modules).encode())
        settings = "".join(f"{path} {value}\n" for path, value in _SETTINGS.items())
        self.add("/etc/settings", settings.encode())
        self.add("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
        config = kernel.image.with_name(f"config-{kernel.release}")
        if config.exists():
            self.add(f"/boot/{config.name}", config.read_bytes())

    def add_tools(self, names: Iterable[str]) -> None:
        """Add programs of the host's own with their libraries; those that it lacks stay away."""
        for name in names:
            found = describe_tool(name).path
            if found is not None:
                self.add_program(Path(found).resolve(), f"/usr/bin/{name}")
                self.tools.append(name)


def agent_image(kernel: Kernel, drivers: Sequence[str], tools: Iterable[str]) -> GuestImage:
    """Return the file system of a guest that an agent serves.

    The drivers are those besides the ones of the agent's line; tools that this host lacks are left
    out.
    """
    image = GuestImage(kernel, (*CONSOLE_DRIVERS, *drivers))
    image.add_tools(tools)
    image.add("/agent.sh", AGENT.read_bytes(), 0o755)
    modules = agent_modules()
    for inside, path in modules.items():
        image.add_module(path, f"/copycost/{inside}")
    image.add_python({*agent_files()} - {*modules.values()})
    # the application copies by functions of the C library, which a profile has to name
    if symbols := symbols_of(Path(sys.executable)):
        image.add_copy(symbols)
    return image


def find_busybox() -> Path:
    """Return busybox; Unavailable if there is none, or not the static one."""
    found = LocalHost().find_tool("busybox")
    if found is None or libraries_of(Path(found)):
        raise Unavailable(
            "there is no static busybox here" if found is None else f"{found} is not static",
            "install the package busybox-static",
        )
    return Path(found)


def symbols_of(program: Path) -> Path | None:
    """Return the file of what names the functions of a program's C library; None without one.

    Distributions strip libraries, and have the names in packages of their own: libc6-dbg.
    """
    library = next((one for one in libraries_of(program) if Path(one).name == _C_LIBRARY), None)
    if library is None:
        return None
    _, found, behind = Path(library).read_bytes().partition(_BUILD_ID)
    name = behind[:20].hex()
    path = _SYMBOLS / name[:2] / f"{name[2:]}.debug"
    return path if found and path.exists() else None


def libraries_of(program: Path) -> list[str]:
    """Return the paths of a program's libraries, and of its loader; none for a static one."""
    said = LocalHost().run(["ldd", str(program)]).stdout
    if missing := _MISSING.findall(said):
        raise Unavailable(
            f"{program} needs {', '.join(missing)}, which is not here",
            f"install {program.name} again",
        )
    return _LIBRARY.findall(said)
