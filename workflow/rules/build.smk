# The C programs. Each depends on exactly the files that it is compiled from, so that editing one
# strategy builds, and measures again, only its own sender; likewise each way to receive. The flags
# are in copycost.build.toolchain.
from copycost.grid.capabilities import split_implementation

# Relative to the checkout, so that a moved one still has the same inputs.
CHECKOUT = Path()

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
        program="results/bin/sender_{strategy}",
    log:
        "results/logs/build_sender/{strategy}.log",
    params:
        # Where a library came or went since, the program is another one.
        libraries=lambda wildcards: toolchain.libraries(
            "sender", wildcards.strategy, CHECKOUT
        ),
    message:
        "Compiling the sender of {wildcards.strategy}"
    script:
        "../scripts/build_sender.py"


rule build_receiver:
    input:
        sources=lambda wildcards: toolchain.sources(
            "receiver", wildcards.receiver, CHECKOUT
        ),
    output:
        program="results/bin/receiver_{receiver}",
    log:
        "results/logs/build_receiver/{receiver}.log",
    params:
        libraries=lambda wildcards: toolchain.libraries(
            "receiver", wildcards.receiver, CHECKOUT
        ),
    message:
        "Compiling the receiver of {wildcards.receiver}"
    script:
        "../scripts/build_receiver.py"


rule build_memory_floor:
    input:
        sources=lambda wildcards: toolchain.sources("memory_floor", None, CHECKOUT),
    output:
        program="results/bin/memory_floor",
    log:
        "results/logs/build_memory_floor.log",
    message:
        "Compiling the program that copies memory"
    script:
        "../scripts/build_memory_floor.py"
