"""What the jobs of a run are, for the line that says what is done, and how long each takes."""

from collections.abc import Mapping
from dataclasses import dataclass

from copycost.config.capabilities import IPERF3
from copycost.config.conditions import HOT
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


@dataclass(frozen=True, slots=True)
class Work:
    """What a job does, in words where it takes its time, and how long on a server's cores [s]."""

    words: str
    expected_s: float


_BUILD = "building the programs"
_TABLES = "computing tables and facts"
_DRAW = "drawing the figures"

# Of a run of the default grid, 1100 repetitions; with fewer, tables take less.
OTHERS = {
    "save_config": Work("", 0.1),
    "build_sender": Work(_BUILD, 1.6),
    "build_receiver": Work(_BUILD, 1.6),
    "build_program": Work(_BUILD, 0.8),
    HOST_RULE: Work("describing this host", 1.0),
    "build_guest": Work("making what guests boot", 4.0),
    "collect_guest": Work("booting a guest", 10.0),
    "collect_peer": Work("reaching the other machine", 3.0),
    MEMORY_RULE: Work("measuring what a plain copy of memory costs", 1.0),
    CHOOSING_RULE: Work("looking where comparisons are open", 0.5),
    "collect_results": Work(_TABLES, 0.8),
    "collect_round_trips": Work(_TABLES, 0.3),
    "describe_columns": Work("", 0.1),
    "collect_profile": Work(_TABLES, 0.8),
    "collect_driven": Work(_TABLES, 0.3),
    "save_simulated_guest": Work("booting a guest whose caches are simulated", 6.0),
    "count_simulated": Work("simulating caches", 0.9),
    "walk_simulated": Work("simulating caches", 2.5),
    "collect_simulated": Work(_TABLES, 1.0),
    "compute_simulated_facts": Work(_TABLES, 1.0),
    "compare_simulated": Work(_TABLES, 0.5),
    "summarise_cells": Work(_TABLES, 0.3),
    "compare_cells": Work(_TABLES, 0.3),
    "compute_facts": Work(_TABLES, 1.6),
    "compute_budget_facts": Work(_TABLES, 0.5),
    "compute_datagram_facts": Work(_TABLES, 0.5),
    "plot_figure": Work(_DRAW, 1.8),
    "plot_overviews": Work(_DRAW, 1.8),
    "plot_rankings": Work(_DRAW, 3.3),
    "draw_profile": Work(_DRAW, 2.2),
    "draw_study": Work(_DRAW, 1.0),
    "compare_published": Work("comparing with published runs", 1.5),
    "merge_hosts": Work("merging the hosts", 10.0),
    "audit_dataset": Work("judging tables that others measured", 10.0),
    "write_report": Work("writing the report", 1.2),
    REPORTING_RULE: Work("typesetting the report", 3.0),
}
"""Every rule with a script that measures no repetition."""

# What a sender takes to make the pages of its ring of messages, and a plain copy those of all its
# buffers, for each byte of the ring [s/B]: page faults of a virtual machine, mostly.
RING_S_PER_BYTE = 0.9e-9
MEMORY_S_PER_BYTE = 3e-9

BOOT_S = 6.0
"""How long the first repetition in guests waits for all of these to boot, where emulated [s]."""

# What a repetition in guests, emulated ones, takes longer than one without: an agent starts the
# programs there, and iperf3 and perf take their time to start.
_IN_GUESTS_S = {GRID_RULE: 0.6, PROFILING_RULE: 4.0, **dict.fromkeys(DRIVING_RULES, 0.9)}
_PROFILE_OF_IPERF3_IN_GUESTS_S = 13.0


def repetition_s(
    rule: str, wildcards: Mapping[str, str], window_s: float, *, in_turns: bool
) -> float:
    """Return how long a repetition takes, its ring of messages and guests left aside [s].

    The window includes the warm-up; with a reference, two ways have it in turns.
    """
    if rule == PROFILING_RULE:  # beside an undisturbed run, and samples are read
        if in_turns:
            return 4 * window_s + 0.7
        # iperf3 runs for whole seconds, of which perf needs one or two to attach to it
        return 2 * window_s + (5.2 if _profiles_iperf3(rule, wildcards) else 0.5)
    if rule in DRIVING_RULES:  # other tools have to start and end
        return window_s + 1.1
    # start of the job and of the programs, set-up of the testbed, clean-up
    return (2 if in_turns else 1) * window_s + 0.1


def in_guests_s(rule: str, wildcards: Mapping[str, str]) -> float:
    """Return how much longer a repetition takes in guests; 0 for one that is in none [s]."""
    if not guests_on(wildcards.get("testbed", "")):
        return 0.0
    if _profiles_iperf3(rule, wildcards):
        return _PROFILE_OF_IPERF3_IN_GUESTS_S
    return _IN_GUESTS_S[rule]


def kind_of(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return the kind of a repetition: those of one kind take about equally long."""
    words = [wildcards.get("study", rule)]
    if _profiles_iperf3(rule, wildcards):
        words[0] += f" of {IPERF3}"
    elif (working_set := wildcards.get("working_set", HOT)) != HOT:
        words.append(working_set)
    if guests_on(wildcards.get("testbed", "")):
        words.append("in guests")
    return ", ".join(words)


def _profiles_iperf3(rule: str, wildcards: Mapping[str, str]) -> bool:
    return rule == PROFILING_RULE and wildcards["implementation"] == IPERF3
