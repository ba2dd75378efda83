"""What of a host's results is nobody else's business, and is left out when they are handed on."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

_T = TypeVar("_T")

_PATH = re.compile(r"(?<![\w/.])/(?:[\w.@+~-]+/)+[\w.@+~-]*")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
_IPV6 = re.compile(
    r"(?<![\w:])(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7}|(?:[0-9a-f]{1,4}:)*:(?:[0-9a-f]{1,4}:)*"
    r"[0-9a-f]{1,4})(?![\w:])",
    re.IGNORECASE,
)
_MAC = re.compile(r"(?<![\w:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![\w:])", re.IGNORECASE)
_PATTERNS = ((_PATH, "(path)"), (_MAC, "(address)"), (_IPV4, "(address)"), (_IPV6, "(address)"))

_LEFT_OUT = frozenset({
    "path", "addresses", "bind_address", "connect_address", "port", "hostname", "nodename", "user",
})  # fmt: skip
"""Keys whose values are left out wherever they stand."""

_HASHED = frozenset({"boot_id"})
"""Keys whose values need only stay different from one another."""

_FREE_TEXTS = frozenset({"reason", "remedy", "detail", "version", "kernel_version"})
"""Keys of texts in which names may stand; elsewhere a host's name may be a word of ours."""

LEFT_OUT_IN_WORDS = "the names of host and user, paths, addresses and ports"


def without_private(value: _T, names: Sequence[str] = ()) -> _T:
    """Return facts or a record without what is private; shapes stay as the schemas have them.

    Parameters
    ----------
    value
        Any JSON value.
    names
        Words that no text may hold: what this host and this user are called.
    """
    words = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in names if len(name) > 1]
    return cast("_T", _cleaned("", value, words))


def _cleaned(key: str, value: object, words: Sequence[re.Pattern[str]]) -> object:
    if key in _LEFT_OUT and not isinstance(value, Mapping):
        return [] if isinstance(value, list) else None
    if isinstance(value, Mapping):
        if value.get("kind") == "ssh" and "facts_digest" in value:
            value = {**value, "name": "(name)"}  # of a machine: maybe user and host
        return {name: _cleaned(name, item, words) for name, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(key, item, words) for item in value]
    if not isinstance(value, str):
        return value
    if key in _HASHED:
        is_hashed = re.fullmatch(r"[0-9a-f]{64}", value)
        return value if is_hashed else hashlib.sha256(value.encode()).hexdigest()
    for pattern, word in _PATTERNS:
        value = pattern.sub(word, value)
    for name in words if key in _FREE_TEXTS else ():
        value = name.sub("(name)", value)
    return value
