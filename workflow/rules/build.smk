# The C programs. Each depends on exactly the files that it is compiled from, so that editing one
# strategy builds, and measures again, only its own sender; likewise each way to receive. The flags
# are in copycost.build.toolchain.
from copycost.build.input_functions import STATIC
from copycost.config.strategy_capabilities import split_implementation

# Relative to the checkout, so that a moved one still has the same inputs.
CHECKOUT = Path()

# Programs for another machine lie in a folder of their own, with their libraries in them.
LINKED = f"({STATIC})?"

# The strategies that the grid compares, by their sources: what these say of themselves is read by
# rules that look what a strategy can do, or describe it.
COMPARED = sorted(
    {
        f"src/strategies/{split_implementation(cell.implementation)[0]}.c"
        for cell in GRID.cells
    }
)
# Tables that others measured may name any of them.
ALL_STRATEGIES = [f"src/strategies/{name}.c" for name in STRATEGIES]


rule build_sender:
    input:
        sources=lambda wildcards: toolchain.sources(
            "sender", wildcards.strategy, CHECKOUT
        ),
    output:
        program="results/bin/{linked}sender_{strategy}",
    log:
        "results/logs/build_sender/{linked}{strategy}.log",
    wildcard_constraints:
        linked=LINKED,
    params:
        program="sender",
        # Where a library came or went since, the program is another one.
        libraries=lambda wildcards: toolchain.libraries(
            "sender", wildcards.strategy, CHECKOUT, static=bool(wildcards.linked)
        ),
    script:
        "../scripts/build_program.py"


rule build_receiver:
    input:
        sources=lambda wildcards: toolchain.sources(
            "receiver", wildcards.receiver, CHECKOUT
        ),
    output:
        program="results/bin/{linked}receiver_{receiver}",
    log:
        "results/logs/build_receiver/{linked}{receiver}.log",
    wildcard_constraints:
        linked=LINKED,
    params:
        program="receiver",
        libraries=lambda wildcards: toolchain.libraries(
            "receiver", wildcards.receiver, CHECKOUT, static=bool(wildcards.linked)
        ),
    script:
        "../scripts/build_program.py"


rule build_program:
    input:
        sources=lambda wildcards: toolchain.sources(wildcards.program, None, CHECKOUT),
    output:
        program="results/bin/{program}",
    log:
        "results/logs/build_program/{program}.log",
    wildcard_constraints:
        program="memory_floor|simulated_cell|simulated_plugin|simulated_walk",
    params:
        program=lambda wildcards: wildcards.program,
    script:
        "../scripts/build_program.py"
