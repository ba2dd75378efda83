"""The chapter's text in every branch, as it stands in tests/golden/profile.

After an intended change: ``COPYCOST_UPDATE_GOLDEN=1 pytest tests/unit/profile``, then read the
difference before committing it.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from unit.profile.made import (
    REAL_ZERO_COPY,
    RECEIVER,
    SENDER,
    ZERO_COPY,
    Cell,
    facts_of,
)

from copycost.profile.grid import cell_keys
from copycost.profile.names import figure_names
from copycost.report.write import make_environment

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "profile"
UPDATE = os.environ.get("COPYCOST_UPDATE_GOLDEN") == "1"

TWO = Cell("two_copy", {"sender": SENDER, "receiver": RECEIVER})
ZERO = Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, copied_share=1.0)
_UDP = {stack.replace("tcp", "udp"): share for stack, share in SENDER.items()}
_ONE = {stack: share for stack, share in SENDER.items() if "memmove" not in stack}
_SINK = {"testbed": "sink", "working_set": "cold", "cpu_s": {"sender": 0.9}}


def _changed(stacks: dict[str, int], **more: int) -> dict[str, int]:
    outer = "__send;entry_SYSCALL_64_after_hwframe_[k];"
    return {**stacks, **{f"{outer}{name}_[k]": share for name, share in more.items()}}


SCENARIOS: dict[str, tuple[list[Cell], dict[str, Any]]] = {
    "deferred_copy": ([TWO, ZERO], {}),
    "once": (
        [
            Cell("two_copy", {"sender": SENDER, "receiver": RECEIVER}, repetitions=1),
            Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, repetitions=1),
        ],
        {"repetitions": 1},
    ),
    "real_zero_copy": (
        [
            Cell("two_copy", {"sender": _UDP}, **_SINK, msg_bytes=65507),
            Cell("zero_copy", {"sender": REAL_ZERO_COPY}, **_SINK, msg_bytes=65507,
                 gigabytes=8.0, copied_share=0.0),
        ],
        {},
    ),
    "restless": (
        [
            Cell("two_copy", {"sender": SENDER, "receiver": RECEIVER}, wobble=(1.0, 2.2, 0.6)),
            Cell("zero_copy", {"sender": ZERO_COPY, "receiver": RECEIVER}, wobble=(1.9, 0.7, 1.0),
                 overhead=(0.7, 1.4, 1.0), copied_share=0.97),
        ],
        {},
    ),
    "cycles": (
        [
            Cell("iperf3", {"sender": SENDER, "receiver": RECEIVER}, testbed="loopback",
                 msg_bytes=131072, source="hardware", lost=120, truncated=True,
                 overhead=(0.9, 0.91, 0.9)),
            Cell("iperf3", {"sender": SENDER, "receiver": RECEIVER}, testbed="loopback",
                 msg_bytes=131072, n_threads=2, source="hardware", overhead=(0.9, 0.91, 0.9)),
        ],
        {"implementations": ("iperf3",), "differences": ()},
    ),
    "strange_kernel": (
        [
            Cell("two_copy", {"sender": _changed(SENDER, a_new_function=9, bpf_prog_run=4),
                              "receiver": RECEIVER}, source="timer", n_threads=4),
            Cell("one_copy", {"sender": SENDER, "receiver": RECEIVER}, n_threads=4,
                 source="hardware"),
        ],
        {"event": "cpu_clock", "differences": ()},
    ),
    "cheaper": (
        [TWO, Cell("one_copy", {"sender": _ONE, "receiver": RECEIVER},
                   cpu_s={"sender": 0.72, "receiver": 0.6})],
        {"implementations": ("two_copy", "one_copy"), "differences": (("two_copy", "one_copy"),)},
    ),
    "some_lost": (
        [
            TWO,
            Cell("zero_copy", {}, status="failed", reason="the sender was killed by SIGKILL",
                 remedy="look for the out-of-memory killer in dmesg", repetitions=2),
        ],
        {"event": "cpu_clock"},
    ),
    "forbidden": (
        [
            Cell(name, {}, status="skipped",
                 reason="the kernel may not be sampled (perf_event_paranoid is 2)",
                 remedy="run as root, or allow it: sudo sysctl kernel.perf_event_paranoid=1")
            for name in ("two_copy", "zero_copy")
        ],
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_text_is_the_golden_one(name: str, tmp_path: Path) -> None:
    cells, changes = SCENARIOS[name]
    facts = facts_of(cells, tmp_path, **changes)
    text = _text(facts)
    path = GOLDEN / f"{name}.md"
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no golden text for {name}; see the head of this file"
    assert text == path.read_text(encoding="utf-8")


def _text(facts: dict[str, Any]) -> str:
    names = [f"path_{cell['slug']}" for cell in facts["cells"]]
    names += [f"flame_{cell['slug']}_{side}" for cell in facts["cells"] for side in cell["sides"]]
    names += [f"difference_{d['slug']}_{side}" for d in facts["differences"] for side in d["sides"]]
    template = make_environment(ROOT / "report").get_template("profile.qmd.j2")
    return template.render(
        profile=facts,
        figures={"profile": names},
        provenance=lambda folder, name: f"Source: `results/figures/{folder}/{name}.csv`.",
    )


def test_every_golden_text_has_its_scenario() -> None:
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(SCENARIOS)


def test_the_text_names_only_figures_that_are_drawn(tmp_path: Path) -> None:
    from unit.profile.made import section

    facts = facts_of([TWO, ZERO], tmp_path)
    drawn = figure_names(cell_keys(section()), section().differences)
    for line in _text(facts).splitlines():
        if "(assets/profile/" in line:
            assert line.partition("(assets/profile/")[2].partition(".svg")[0] in drawn
