"""What a run says of a real network card with less than both bounds; golden texts have both."""

import pytest
from analysed import facts_of
from synthetic import Run, Udp

pytestmark = pytest.mark.slow

SMALL = {"msg_bytes": (4096, 65536), "n_threads": (1, 2), "repetitions": 3}


def test_the_interval_of_a_bound_allows_for_what_it_was_picked_from() -> None:
    run = Run(**SMALL, noise=0.05)
    (of_both,) = facts_of(run)["network_card"]["bounds"]
    alone = facts_of(Run(**SMALL | {"n_threads": (of_both["n_threads"],)}, noise=0.05))
    (of_one,) = alone["network_card"]["bounds"]
    assert (of_both["n_cells"], of_one["n_cells"]) == (2, 1)
    widths = [one["high"] / one["low"] for one in (of_both, of_one)]
    assert widths[0] > widths[1]


@pytest.mark.parametrize(
    ("run", "measured", "bounds"),
    [
        (Run(**SMALL, udp=Udp(msg_bytes=(4096, 65507))), [],
         [("sink_cold", 65507), ("veth", 65536)]),
        (Run(**SMALL), [], [("veth", 65536)]),
        (Run(testbeds=(), msg_bytes=(1024,), udp=Udp(working_sets=("cold",))), [],
         [("sink_cold", 65507)]),
        (Run(**SMALL, implementations=("two_copy", "one_copy")), [], []),
        (Run(**SMALL, implementations=("zero_copy",)), [], []),
        (Run(**SMALL, copied_share=lambda size: 0.0, udp=Udp(msg_bytes=(1024,))), ["veth"], []),
    ],
)  # fmt: skip
def test_less_than_both_or_real_zero_copy_with_a_receiver_gives_fewer_bounds(
    run: Run, measured: list[str], bounds: list[tuple[str, int]]
) -> None:
    card = facts_of(run)["network_card"]
    assert [(one["slug"], one["msg_bytes"]) for one in card["bounds"]] == bounds
    assert card["measured"] == measured
    assert (card["wires"], card["copied"], card["sent"]) == ([], [], None)
