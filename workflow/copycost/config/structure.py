"""Sections of the configuration from plain values, as YAML and Snakemake have them, and back.

Apart from the sections themselves, since the measuring process imports `Settings` and its start-up
time, which cattrs would double, is paid at every repetition.
"""

from typing import Any, TypeVar, cast

from cattrs import Converter
from cattrs.errors import CattrsError

from copycost.config.hosts import Hosts, Slurm
from copycost.config.settings import AUTO, KERNEL
from copycost.config.simulated import CacheSizes, Enabled
from copycost.config.wire import UdpRate

_Section = TypeVar("_Section")
_Cpus = tuple[int, ...] | None
_Buffer = int | None
_Minutes = float | None
_Caches = CacheSizes | None
_Kernel = str | None

NONE = "none"
"""The word of the configuration for no limit of time, and for no file."""
HOST = "host"
"""The word of the configuration for what the host has."""


def _converter() -> Converter:
    # A missing key is then a KeyError, as from a mapping, and no group of exceptions.
    converter = Converter(detailed_validation=False, unstruct_collection_overrides={tuple: list})
    converter.register_structure_hook(
        _Buffer, lambda size, _: None if size == KERNEL else int(size)
    )
    converter.register_unstructure_hook(_Buffer, lambda size: KERNEL if size is None else size)
    converter.register_structure_hook(
        _Minutes, lambda time, _: None if time == NONE else float(time)
    )
    converter.register_unstructure_hook(_Minutes, lambda time: NONE if time is None else time)
    converter.register_structure_hook(Hosts, _hosts)
    converter.register_unstructure_hook(Hosts, _plain_hosts)
    converter.register_structure_hook(
        _Cpus, lambda cpus, _: None if cpus == AUTO else tuple(int(cpu) for cpu in cpus)
    )
    converter.register_unstructure_hook(_Cpus, lambda cpus: AUTO if cpus is None else list(cpus))
    converter.register_structure_hook(UdpRate, lambda rate, _: rate)
    converter.register_unstructure_hook(UdpRate, lambda rate: rate)
    converter.register_structure_hook(Enabled, lambda enabled, _: enabled)
    converter.register_unstructure_hook(Enabled, lambda enabled: enabled)
    converter.register_structure_hook(
        _Caches, lambda sizes, _: None if sizes == HOST else converter.structure(sizes, CacheSizes)
    )
    converter.register_unstructure_hook(
        _Caches, lambda sizes: HOST if sizes is None else converter.unstructure(sizes, CacheSizes)
    )
    converter.register_structure_hook(_Kernel, lambda path, _: None if path == NONE else str(path))
    converter.register_unstructure_hook(_Kernel, lambda path: NONE if path is None else path)
    return converter


def _hosts(tree: Any, _: object) -> Hosts:  # noqa: ANN401 - checked plain values
    slurm = tree["slurm"]
    chosen = Slurm(
        None if slurm["partition"] == AUTO else slurm["partition"],
        tuple(slurm["nodes"]),
        int(slurm["count"]),
        None if slurm["constraint"] == NONE else slurm["constraint"],
    )
    alias = None if tree["alias"] == AUTO else tree["alias"]
    return Hosts(alias, tuple(tree["where"]), chosen)


def _plain_hosts(hosts: Hosts) -> dict[str, Any]:
    slurm = hosts.slurm
    return {
        "alias": hosts.alias or AUTO,
        "where": list(hosts.where),
        "slurm": {
            "partition": slurm.partition or AUTO,
            "nodes": list(slurm.nodes),
            "count": slurm.count,
            "constraint": slurm.constraint or NONE,
        },
    }


_CONVERTER = _converter()


def from_plain(tree: object, kind: type[_Section]) -> _Section:
    """Return the configuration, or a section of it, that checked plain values state.

    Raises
    ------
    KeyError, TypeError, ValueError
        If they were not checked, and a value is missing or of another kind.
    """
    try:
        return _CONVERTER.structure(tree, kind)
    except CattrsError as error:
        raise ValueError(str(error)) from error


def to_plain(section: object) -> dict[str, Any]:
    """Return a section in the words of config.yaml, sizes in bytes, lists as lists."""
    return cast("dict[str, Any]", _CONVERTER.unstructure(section))
