"""Modules of a kernel, and what each needs to be loaded before it.

Packages that were only unpacked have no modules.dep, which is made when they are installed; but
each module says itself what it depends on.

Source: modinfo(8), kmod's libkmod-module.c on the section .modinfo; modules.builtin of kbuild.
"""

import lzma
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from copycost.errors import Unavailable

_SUFFIXES = (".ko", ".ko.xz", ".ko.zst")
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


@dataclass(frozen=True, slots=True)
class Modules:
    """The modules of one kernel."""

    # by the name of the module, with underscores
    paths: Mapping[str, Path] = field(default_factory=dict)
    # names of those that are part of the kernel
    built_in: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def in_folder(cls, folder: Path | None) -> Self:
        """Return the modules in ``lib/modules/RELEASE``; none without a folder."""
        if folder is None:
            return cls()
        files = (path for path in folder.rglob("*.ko*") if path.name.endswith(_SUFFIXES))
        listed = folder / "modules.builtin"
        lines = listed.read_text().splitlines() if listed.exists() else []
        built_in = frozenset(_name(Path(line).name) for line in lines)
        return cls({_name(path.name): path for path in files}, built_in)

    def has(self, name: str) -> bool:
        """Return whether there is such a driver, as a module or in the kernel."""
        return name in self.built_in or name in self.paths

    def in_loading_order(self, names: Iterable[str]) -> list[tuple[str, bytes]]:
        """Return modules and all they depend on: name and content, each behind what it needs."""
        loaded: dict[str, bytes] = {}
        for name in names:
            self._load(name, loaded)
        return list(loaded.items())

    def _load(self, name: str, loaded: dict[str, bytes]) -> None:
        if name in loaded or name in self.built_in:
            return
        if name not in self.paths:
            raise Unavailable(
                f"the guest's kernel has no driver {name}", "choose another virtual.kernel"
            )
        content = _content(self.paths[name])
        found = _DEPENDS.search(content)
        for needed in filter(None, (found[1] if found else b"").decode().split(",")):
            self._load(_name(needed), loaded)
        loaded[name] = content


def _name(file: str) -> str:
    return file.partition(".")[0].replace("-", "_")


def _content(path: Path) -> bytes:
    """Return a module unpacked: Debian packs with xz or not at all, Ubuntu with zstd."""
    if path.suffix == ".zst":
        try:
            return subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise Unavailable(f"{path} cannot be unpacked ({error})", "install zstd") from error
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == ".xz" else content
