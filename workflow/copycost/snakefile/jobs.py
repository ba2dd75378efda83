"""What the jobs of a run are, for the line that says what is done, and how long each takes."""

from collections.abc import Mapping

from copycost.config.testbeds import guests_on

GRID_RULE = "run_cell"
CHOOSING_RULE = "choose_cells"
REPORTING_RULE = "render_report"
HOST_RULE = "collect_host"
MEMORY_RULE = "measure_memory"
NODE_RULE = "measure_node"

# The rules that measure repetitions; their `settings` say how long the windows are.
PROFILING_RULE = "profile_cell"
DRIVING_RULES = ("run_budget", "run_datagrams")
MEASURING_RULES = (GRID_RULE, PROFILING_RULE, *DRIVING_RULES)

# What a run has of the host that it runs on; of another host's results there is nothing to be done.
OF_THIS_HOST = (*MEASURING_RULES, HOST_RULE, MEMORY_RULE, CHOOSING_RULE)

_DONE = {
    "": {"save_config": 0.1, "describe_columns": 0.1},
    "building the programs": {"build_sender": 1.6, "build_receiver": 1.6, "build_program": 0.8},
    "describing this host": {HOST_RULE: 1.0},
    "making what guests boot": {"build_guest": 4.0},
    "booting a guest": {"collect_guest": 10.0},
    "reaching the other machine": {"collect_peer": 3.0},
    "measuring what a plain copy of memory costs": {MEMORY_RULE: 1.0},
    "looking where comparisons are open": {CHOOSING_RULE: 0.5},
    "booting a guest whose caches are simulated": {"save_simulated_guest": 6.0},
    "simulating caches": {"count_simulated": 0.9, "walk_simulated": 2.5},
    "computing tables and facts": {
        "collect_results": 0.8,
        "collect_round_trips": 0.3,
        "collect_profile": 0.8,
        "collect_driven": 0.3,
        "collect_simulated": 1.0,
        "compute_simulated_facts": 1.0,
        "compare_simulated": 0.5,
        "summarise_cells": 0.3,
        "compare_cells": 0.3,
        "compute_facts": 1.6,
        "compute_driven_facts": 0.5,
    },
    "drawing the figures": {
        "plot_figure": 1.8,
        "plot_overviews": 1.8,
        "plot_rankings": 3.3,
        "draw_profile": 2.2,
        "draw_study": 1.0,
    },
    "comparing with published runs": {"compare_published": 1.5},
    "merging the hosts": {"merge_hosts": 10.0},
    "judging tables that others measured": {"audit_dataset": 10.0},
    "writing the report": {"write_report": 1.2},
    "typesetting the report": {REPORTING_RULE: 3.0},
}
WORDS = {rule: words for words, rules in _DONE.items() for rule in rules}
"""What a job does that measures no repetition, by its rule; empty where it takes no time."""
EXPECTED_S = {rule: each_s for rules in _DONE.values() for rule, each_s in rules.items()}
"""How long such a job takes on a server's cores, in a run of the default grid [s]."""

# What a repetition in guests takes longer: an agent starts the programs there [s].
_IN_GUESTS_S = {GRID_RULE: 0.6, PROFILING_RULE: 4.0, **dict.fromkeys(DRIVING_RULES, 0.9)}


def repetition_s(rule: str, testbed: str, window_s: float, *, in_turns: bool) -> float:
    """Return how long a repetition takes [s].

    The window includes the warm-up; with a reference, two ways have it in turns.
    """
    n_windows = 2 if in_turns else 1
    besides_s = 0.1  # start of the job and of the programs, set-up of the testbed, clean-up
    if rule == PROFILING_RULE:  # beside an undisturbed run, and samples are read
        n_windows, besides_s = 2 * n_windows, 0.7
    elif rule in DRIVING_RULES:  # other tools have to start and end
        n_windows, besides_s = 1, 1.1
    in_guests_s = _IN_GUESTS_S[rule] if guests_on(testbed) else 0.0
    return n_windows * window_s + besides_s + in_guests_s


def kind_of(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return the kind of a job; repetitions of one kind take about equally long."""
    testbed = wildcards.get("testbed")
    measures = rule in MEASURING_RULES and testbed
    return f"{wildcards.get('study', rule)} on {testbed}" if measures else rule
