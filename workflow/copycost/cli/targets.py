"""Names the hosts of ``./run fetch``, which are given as ``[NAME=]TARGET``.

What a host calls itself is not asked: many may have the same configuration, and so the same alias.
"""

import re
from collections.abc import Sequence

from copycost.compare.hosts.names import RULE, fitting_name, require_name, shown
from copycost.errors import ConfigError

_SCHEME = "ssh://"
# what ssh takes in no name of a host (valid_hostname in ssh.c)
_REFUSED = re.compile(r"""[\s\0-\x1f'`"$\\;&<>|(){}]""")


def named_targets(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the name of each host, with how ssh reaches it.

    Raises
    ------
    ConfigError
        If a word is no host, its name is none, or two hosts have the same.
    """
    found: dict[str, str] = {}
    for word in words:
        name, target = _of_word(word)
        if name in found:
            raise ConfigError(
                f"fetch: {found[name]} and {shown(target)} are both called {name}, and are taken "
                "for one host then; give one of them another name: NAME=USER@HOST"
            )
        found[name] = target
    return list(found.items())


def _of_word(word: str) -> tuple[str, str]:
    given, is_named, target = word.partition("=") if "=" in word else ("", "", word)
    if not target or target.startswith("-") or _REFUSED.search(target):
        raise ConfigError(f"fetch: {shown(target)!r} is no host; expected one as ssh knows it")
    if is_named:
        return require_name(given, f"fetch: {word}"), target
    name = fitting_name(target.removeprefix(_SCHEME).rpartition("@")[2])
    if not name:
        raise ConfigError(
            f"fetch: no name can be made of {shown(target)!r}; give it one: NAME=USER@HOST, "
            f"of {RULE}"
        )
    return name, target
