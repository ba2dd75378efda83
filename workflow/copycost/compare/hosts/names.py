"""Names of hosts: chosen by people, since what a host calls itself is nobody else's business."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from copycost.errors import ConfigError

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_LONGEST = 40
RULE = "1 to 40 small letters, digits and hyphens, such as lab-amd-2"


def require_name(name: str, where: str) -> str:
    """Return the name of a host, if it can be one."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{where}: {shown(name)!r} names no host; expected {RULE}")
    return name


def fitting_name(text: str) -> str:
    """Return a text made to fit the rule of names; empty where nothing of it does."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST].rstrip("-")


def name_of(identity: Mapping[str, Any]) -> str:
    """Return a name for a host that nobody has named, the same as long as its identity is."""
    text = json.dumps(identity, sort_keys=True)
    return f"host-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def shown(text: str, most: int = 80) -> str:
    """Return a foreign text as a terminal may have it: no control characters, and not for ever."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return plain if len(plain) <= most else f"{plain[: most - 3]}..."
