"""Looks are fixed, told apart with and without colour, and shared out over panels."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from copycost.build.toolchain import strategies
from copycost.config.checkout import ROOT
from copycost.figures.markers import CROWD, families, way_styles

WAYS = tuple(name for name in strategies(ROOT) if name != "null")
TWELVE = ("two_copy", "one_copy", "zero_copy", *(f"further_{place}" for place in range(9)))
EVERY = (*WAYS, "sendmmsg_x16", "uring_send_x8", "uring_zero_copy_x8", "udp_gso_x16", "mine")

# Linear RGB as seen without one kind of cones (Machado, Oliveira and Fernandes 2009, severity 1).
SEEN = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
    "trichromacy": np.eye(3),
}  # fmt: skip


def lab(colour: str, seen: str) -> np.ndarray:
    """Return a colour as it is seen, in CIE 1976 L*a*b* (D65)."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(SEEN[seen]) @ linear, 0, 1)
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = np.array(to_xyz) @ linear / (0.9505, 1.0, 1.089)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("name", WAYS)
def test_every_way_to_send_has_a_look_of_its_own_whatever_else_is_drawn(name: str) -> None:
    assert way_styles((name,))[name] == way_styles(EVERY)[name]
    others = [look for other, look in way_styles(WAYS).items() if other != name]
    assert way_styles(WAYS)[name].marker not in {look.marker for look in others}


def test_many_messages_per_call_look_like_their_strategy_but_hollow() -> None:
    found = way_styles(("sendmmsg", "sendmmsg_x16", "sendmmsg_x64", "mine_x2"))
    plain, first, second = (found[f"sendmmsg{batch}"] for batch in ("", "_x16", "_x64"))
    assert plain.colour == first.colour == second.colour
    assert plain.marker == first.marker == second.marker
    assert [plain.hollow, first.hollow, second.hollow] == [False, True, True]
    assert len({plain.line, first.line, second.line}) == 3
    assert found["mine_x2"].hollow
    assert first.as_line()["markerfacecolor"] == "white"


@pytest.mark.parametrize("names", [TWELVE, EVERY, tuple(f"new_{n}" for n in range(20))])
def test_no_family_crowds_its_panel_and_everyone_is_in_one(names: tuple[str, ...]) -> None:
    groups = families(names)
    assert all(1 <= len(group.members) <= CROWD for group in groups)
    assert set().union(*(group.members for group in groups)) == set(names)
    assert len({group.name for group in groups}) == len(groups)


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("names", [WAYS, TWELVE[:CROWD], TWELVE[3:]])
def test_colours_of_one_panel_are_told_apart_by_everyone(names: tuple[str, ...], seen: str) -> None:
    for group in families(names):
        colours = {way_styles(names)[name].colour for name in group.members}
        assert len(colours) == len(group.members)
        for one, other in itertools.combinations(colours, 2):
            assert np.linalg.norm(lab(one, seen) - lab(other, seen)) > 15, (group.name, one, other)
