"""Every host that is fetched has a name of its own, whatever it calls itself."""

import pytest

from copycost.cli.fetch_and_fleet import named_targets
from copycost.compare.hosts.privacy import require_name
from copycost.errors import ConfigError


@pytest.mark.parametrize(
    ("word", "name", "target"),
    [
        ("lab=alice@one", "lab", "alice@one"),
        ("alice@one", "one", "alice@one"),
        ("ssh://alice@one:22", "one-22", "ssh://alice@one:22"),
    ],
)
def test_a_host_is_named_by_the_user_or_by_where_it_is(word: str, name: str, target: str) -> None:
    assert named_targets([word]) == {name: target}
    assert require_name(name, "test") == name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a_b=one"], "'a_b' names no host"),
        (["a;b"], "is no host"),
        (["-oProxyCommand=x", "one"], "names no host"),
        (["alice@::"], "no name can be made of 'alice@::'"),
        (["alice@one", "bob@one"], "alice@one and bob@one are both called one"),
    ],
)
def test_what_would_be_no_host_or_two_of_one_name_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        named_targets(words)
