# What each copy costs when Linux sends a message: from config.yaml to results/report.
#
#   snakemake --cores 1            everything
#   snakemake --cores 1 tables     only as far as the tables; also: measure, figures, report
#   snakemake --cores 1 profile    which functions the CPU time goes to; also: cpu_budget, datagrams;
#                                  chapters of the report where config.yaml enables them
#   snakemake --cores 1 fleet      many hosts, one report over all: see docs/cluster.md
#   snakemake --cores 1 audit      not ours: tables that others measured, see docs/audit.md
import re
import sys
from functools import partial
from pathlib import Path

from snakemake.utils import min_version

min_version("9.17")  # `priority` may be a function of the wildcards

# The package comes from beside this file, never from elsewhere: a clone runs its own code.
PACKAGE_ROOT = str(Path(workflow.basedir) / "workflow")
sys.path.insert(0, PACKAGE_ROOT)

from copycost.build import toolchain
from copycost.config.strategy_capabilities import IPERF3
from copycost.build.input_functions import (
    facts_elsewhere,
    receiver_of,
    sender_at,
    sender_of,
)
from copycost.config.testbeds import NAME_PATTERN, is_wire, peer_of
from copycost.config.config import STUDIES
from copycost.config.sources import require_yaml
from copycost.config.cells import (
    RAW_ROOT,
    WORDS,
    Cell,
    cell_priority,
    pattern_of,
    record_pattern,
)
from copycost.config.grid import Grid, reference_of, repetitions_in
from copycost.config.passes import analysed, given_or, is_given
from copycost.hosts.facts.identity import host_identity
from copycost.records.files import ASIDE
from copycost.snakefile import before_run, console_summary, chapters, dependencies
from copycost.snakefile.internals import (
    forget_rules,
    keep_the_scheduler_still,
    take_code_into_account,
)
from copycost.snakefile.jobs import OF_THIS_HOST
from copycost.snakefile.startup import checked_config, prepare_process

prepare_process(workflow, PACKAGE_ROOT)
require_yaml("workflow/config/defaults.yaml", "config.yaml")


configfile: "workflow/config/defaults.yaml"
configfile: "config.yaml"


# Reading this file changes no other but what cannot be used, which is set aside, and that only in
# the first process: jobs that run elsewhere read it too.
digest_of = partial(dependencies.digest_of_modules, workflow.basedir)
STRATEGIES = toolchain.strategies(Path(workflow.basedir))
RECEIVERS = toolchain.receivers(Path(workflow.basedir))
CONFIG = checked_config(workflow)
before_run.set_aside_unusable(workflow, CONFIG)
GRID = given_or(Grid.of(CONFIG))
NOT_SIMULATED = chapters.why_not_simulated(CONFIG)
CHAPTERS = chapters.enabled_chapters(
    CONFIG, without=() if NOT_SIMULATED is None else ("simulated",)
)
console_summary.print_dry_run(workflow, CONFIG)


wildcard_constraints:
    study=WORDS["study"],
    testbed=NAME_PATTERN,
    strategy="|".join(STRATEGIES),
    implementation=rf"(?:{'|'.join(STRATEGIES)})(?:_x[1-9]\d*)?|{IPERF3}",
    msg_bytes=WORDS["msg_bytes"],
    n_threads=WORDS["n_threads"],
    working_set=WORDS["working_set"],
    receiver="|".join(RECEIVERS),
    placement=WORDS["placement"],
    limiter=WORDS["limiter"],
    limit_percent=WORDS["limit_percent"],
    rep=WORDS["rep"],
    variant=WORDS["variant"],


include: "workflow/rules/host.smk"
include: "workflow/rules/build.smk"
include: "workflow/rules/virtual.smk"
include: "workflow/rules/wire.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/passes.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/profile.smk"
include: "workflow/rules/driven.smk"
include: "workflow/rules/simulated.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/fleet.smk"


take_code_into_account(workflow)
if is_given():
    forget_rules(workflow, OF_THIS_HOST)


# Each target names the records too: a missing one, say of a failed repetition that shall be measured
# again, is no reason for Snakemake to act as long as only what follows from it is wanted.
RECORDS_OF = {
    "profile": PROFILE_RECORDS,
    "cpu_budget": BUDGET_RECORDS,
    "datagrams": DATAGRAM_RECORDS,
    "simulated": SIMULATED_RECORDS,
}
MORE_RECORDS = [
    path for chapter in CHAPTERS for path in RECORDS_OF[chapter.name]
] + MEMORY


rule all:
    default_target: True
    input:
        report=expand("results/report/report.{format}", format=CONFIG.report.formats),
        columns=COLUMNS,
        records=RECORDS,
        more=MORE_RECORDS,


rule measure:
    input:
        config="results/config.yaml",
        records=RECORDS,
        memory=MEMORY,


rule tables:
    input:
        config="results/config.yaml",
        records=RECORDS,
        tables=expand(
            "results/tables/{table}",
            table=[
                "cells.csv",
                "cells.parquet",
                "summary.csv",
                "quality.csv",
                "ratios.csv",
            ],
        ),
        columns=COLUMNS,
        round_trips=ROUND_TRIPS,
        curves=ROUND_TRIP_CURVES,
        memory=MEMORY,


rule figures:
    input:
        config="results/config.yaml",
        records=RECORDS,
        figures=expand("{figure}.svg", figure=REPORT_FIGURES),


rule report:
    input:
        report=expand("results/report/report.{format}", format=CONFIG.report.formats),
        columns=COLUMNS,
        records=RECORDS,
        more=MORE_RECORDS,


rule audit:
    input:
        expand("results/audit/{dataset}/report.html", dataset=AUDITED),


onstart:
    before_run.lock_folder()
    keep_the_scheduler_still(workflow)
    console_summary.print_plan(workflow, CONFIG)


onsuccess:
    console_summary.print_outcome(workflow, CONFIG)


onerror:
    console_summary.print_remedy()
