"""Sections of the configuration from plain values, as YAML and Snakemake have them, and back.

Apart from the sections themselves, since the measuring process imports `Settings` and its start-up
time, which cattrs would double, is paid at every repetition.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from cattrs import Converter
from cattrs.errors import CattrsError

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

    def none_is(word: str, kind: Any, made: Callable[[Any], object]) -> None:  # noqa: ANN401
        """Let None, among the values of a kind, be a word of the configuration."""
        converter.register_structure_hook(kind, lambda it, _: None if it == word else made(it))
        converter.register_unstructure_hook(
            kind, lambda it: word if it is None else converter.unstructure(it)
        )

    none_is(KERNEL, _Buffer, int)
    none_is(NONE, _Minutes, float)
    none_is(NONE, _Kernel, str)
    none_is(AUTO, _Cpus, lambda cpus: tuple(int(cpu) for cpu in cpus))
    none_is(HOST, _Caches, lambda sizes: converter.structure(sizes, CacheSizes))
    for kind in (UdpRate, Enabled):
        converter.register_structure_hook(kind, lambda it, _: it)
        converter.register_unstructure_hook(kind, lambda it: it)
    return converter


_CONVERTER = _converter()


def from_plain(tree: object, kind: type[_Section]) -> _Section:
    """Return the configuration, or a section of it, that checked plain values state.

    Raises KeyError, TypeError or ValueError if they were not checked, and a value is missing or of
    another kind.
    """
    try:
        return _CONVERTER.structure(tree, kind)
    except CattrsError as error:
        raise ValueError(str(error)) from error


def to_plain(section: object) -> dict[str, Any]:
    """Return a section in the words of config.yaml, sizes in bytes, lists as lists."""
    return cast("dict[str, Any]", _CONVERTER.unstructure(section))
