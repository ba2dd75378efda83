"""Everything that the text says, as data: `results/facts.json`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import stream_sections, studied_conditions, with_condition
from copycost.analysis.context import (
    counter_facts,
    grid_facts,
    method_facts,
    missing_facts,
    run_facts,
)
from copycost.analysis.control import control_facts
from copycost.analysis.crossovers import condition_crossovers
from copycost.analysis.decisions import stream_decisions
from copycost.analysis.evidence import ring_bytes
from copycost.analysis.finding import answers_of, of, tally
from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import choose_cost_metric, copied_labels
from copycost.analysis.placement import placement_facts
from copycost.analysis.quality import quality_facts
from copycost.analysis.questions import answer_questions, counted_levels
from copycost.analysis.ranking import memory_facts, ranking_facts
from copycost.analysis.real_nic_validity import network_card_facts, undisturbed_facts
from copycost.analysis.stats.modes import FEWEST, SHARE_HELD
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.unexpected import unexpected_findings
from copycost.analysis.virtual import round_trips_in_guests, virtual_facts
from copycost.analysis.wire import wire_facts
from copycost.config.conditions import HOT
from copycost.studies.round_trips.facts import round_trip_facts

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the facts are computed from."""

    cells: pd.DataFrame
    summary: pd.DataFrame
    ratios: pd.DataFrame
    host: dict[str, Any]  # content of results/host.json
    config: dict[str, Any]  # the configuration in the words of config.yaml, sizes in bytes
    # content of results/memory.json; None where the memory floor is switched off
    memory: Mapping[str, Any] | None = None
    # the table of round trips; None where there are none in the config
    round_trips: pd.DataFrame | None = None
    # content of results/guest.json; None where no cell is in a guest
    guest: dict[str, Any] | None = None
    # what is known of other machines, by their names; nothing where no cell is over the wire
    peers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def compute_facts(inputs: Inputs) -> Facts:
    """Return all facts as plain JSON values: SI units, None for what is missing."""
    cells, host, config = inputs.cells, inputs.host, inputs.config
    views = views_of(inputs)
    measured = {name: view for name, view in views.items() if view.is_measured}
    settings = StatisticsSettings(**config["statistics"])
    memory = memory_facts(inputs.memory, _caches(inputs), settings)
    conditions = {
        name: _condition_facts(view, memory) | {"decisions": stream_decisions(view, inputs.peers)}
        for name, view in views.items()
    }
    of_measured = [conditions[name] for name in measured]
    cost = choose_cost_metric(cells)
    tables = [one for one in (cells, inputs.round_trips) if one is not None]
    run = run_facts(cells, tables)
    wire = wire_facts(views, inputs.peers)
    round_trips = round_trip_facts(inputs.round_trips, config, settings, inputs.peers)
    of_trips = round_trips["conditions"] if round_trips else []
    in_guests = round_trips_in_guests(
        inputs.round_trips, config.get("round_trips"), settings.confidence
    )
    answered = [*of_measured, *(one for one in of_trips if one["n_measured"])]
    answers = [answer for one in answered for answer in answers_of(one["decisions"])]
    questions = list(answer_questions([*measured.values()]))
    # what happens with more threads: of how many combinations of condition and way, by verdict
    courses = Counter(one.verdict for one in of(questions, "threads"))
    result: Facts = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "study": "streams",
            "config": config,
            "run": run,
            "host": {key: value for key, value in host.items() if key != "schema_version"},
            "method": method_facts(cells, config),
            "grid": grid_facts(config, list(views)),
            "counters": counter_facts(cells, host),
            "cost": {"label": cost.label, "unit": cost.unit, "reason": cost.reason},
            "conditions": conditions,
            "measured_conditions": list(measured),
            "network_card": network_card_facts(views, wire),
            "undisturbed": undisturbed_facts(tables, (one["quality"] for one in of_measured)),
            "control": control_facts(views),
            # repetitions that it takes to see two clusters, and how often the intervals of a ratio
            # hold the truth where there are clusters and rounds too few to see them
            "modes": {"fewest": FEWEST, "share_held": SHARE_HELD.get(run["rounds_max"])},
            "memory": memory,
            "placement": placement_facts(cells, inputs.round_trips, settings),
            "virtual": virtual_facts(views, inputs.guest, in_guests),
            "wire": wire,
            "round_trips": round_trips,
            "answers": tally(answers),
            "courses": {"n": courses.total(), **courses},
            "findings": [*answers, *questions, *unexpected_findings(measured)],
        }
    )
    return result


def views_of(inputs: Inputs) -> dict[str, View]:
    """Return each condition's part of the inputs, by its slug, in the order of the config."""
    cells, summary, ratios = (
        with_condition(table) for table in (inputs.cells, inputs.summary, inputs.ratios)
    )
    caches, cost = _caches(inputs), choose_cost_metric(cells)
    views = {
        studied.name: View(
            **vars(studied),
            rows=cells[cells["condition"] == studied.name],
            summary=summary[summary["condition"] == studied.name],
            ratios=ratios[ratios["condition"] == studied.name],
            settings=StatisticsSettings(**inputs.config["statistics"]),
            cost=cost,
            # what an emulator makes of this machine's caches is unknown
            caches=dict.fromkeys(caches) if studied.emulated else caches,
        )
        for studied in studied_conditions(stream_sections(inputs.config), cells)
    }
    for name, view in views.items():
        condition = view.condition
        # the condition that differs only in where the bytes lie
        hot = views.get(replace(condition, working_set=HOT).slug)
        if condition.working_set != HOT and hot is not None and hot.is_measured:
            views[name] = replace(view, hot=hot)
    return views


def _caches(inputs: Inputs) -> dict[str, Any]:
    return dict(inputs.host.get("cpu", {}).get("caches", {}))


def _condition_facts(view: View, memory: Facts | None) -> Facts:
    def only(name: str) -> Any:  # noqa: ANN401
        """Return the one value of a column that should not vary within a condition, else None."""
        values = [value for value in view.measured[name].dropna().unique() if value != ""]
        return values[0] if len(values) == 1 else None

    counts = view.rows["status"].value_counts()
    mtu_bytes, ring, cache = only("mtu_bytes"), ring_bytes(view), view.caches.get("llc_bytes")
    return view.facts() | {
        "cost_column": view.cost_column,
        "cost_label": view.cost_label,
        "labels": {name: None for name in view.implementations} | copied_labels(view.summary),
        **{f"n_{name}": int(counts.get(name, 0)) for name in ("measured", "failed", "skipped")},
        "skipped": missing_facts(view.rows, "skipped"),
        "failed": missing_facts(view.rows, "failed"),
        "isolation": only("isolation"),
        "mtu_bytes": None if mtu_bytes is None else int(mtu_bytes),
        "crossovers": condition_crossovers(view),
        "quantities": {
            "ring_bytes": ring,
            "ring_per_llc": ring / cache if ring and cache else None,
        },
        "counted_levels": counted_levels(view),
        "quality": quality_facts(view),
        # what memcpy costs an emulated guest, nobody measured
        "ranking": ranking_facts(view, None if view.emulated else memory),
    }
