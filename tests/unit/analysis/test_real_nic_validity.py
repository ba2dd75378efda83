"""What a run says of a real network card, and how undisturbed it was."""

import pandas as pd
import pytest
from analysed import facts_of
from synthetic import Run, Udp

from copycost.analysis.real_nic_validity import undisturbed_facts

pytestmark = pytest.mark.slow

SMALL = {"msg_bytes": (4096, 65536), "n_threads": (1, 2), "repetitions": 3}


def test_a_card_lies_between_real_zero_copy_and_the_kernels_copy() -> None:
    udp = Udp(msg_bytes=(4096, 65507))
    bounds = facts_of(Run(**SMALL, udp=udp))["network_card"]["bounds"]
    told = [(one["slug"], one["msg_bytes"], one["n_threads"], one["n_cells"]) for one in bounds]
    # The size nearest to the largest that both have, with every number of threads, hot and cold.
    assert told == [("sink_cold", 65507, 1, 2), ("veth", 65536, 1, 2)]
    assert [one["sender_only"] for one in bounds] == [True, False]
    assert bounds[0]["value"] < 1.0 < bounds[1]["value"]


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
        (Run(**SMALL), [], ["veth"]),
        (Run(testbeds=(), msg_bytes=(1024,), udp=Udp(working_sets=("cold",))), [], ["sink_cold"]),
        (Run(**SMALL, implementations=("two_copy", "one_copy")), [], []),
        (Run(**SMALL, implementations=("zero_copy",)), [], []),
        (Run(**SMALL, copied_share=lambda size: 0.0, udp=Udp(msg_bytes=(1024,))), ["veth"], []),
    ],
)
def test_less_than_both_or_real_zero_copy_with_a_receiver_gives_fewer_bounds(
    run: Run, measured: list[str], bounds: list[str]
) -> None:
    card = facts_of(run)["network_card"]
    assert [one["slug"] for one in card["bounds"]] == bounds
    assert card["measured"] == measured
    assert (card["wires"], card["copied"], card["sent"]) == ([], [], None)


def test_disturbed_repetitions_of_streams_and_round_trips_are_counted() -> None:
    run = Run(**SMALL, warnings=lambda name, size, n, rep: "steal;few_messages" if rep == 2 else "")
    facts = facts_of(run)
    found = facts["undisturbed"]
    assert (found["n_measured"], found["n_disturbed"]) == (36, 12)
    assert found["warnings"] == {"steal": 12}
    assert (found["n_cells"], found["n_clean"]) == (12, 0)
    found_once = {"status": ["measured"] * 9 + ["failed"], "warnings": ["steal"] + [""] * 9}
    more = undisturbed_facts([pd.DataFrame(found_once)] * 2, [])
    assert (more["n_measured"], more["n_disturbed"], more["warnings"]) == (18, 2, {"steal": 2})
