# The C programs. Each depends on exactly the files that it is compiled from, so that editing one
# strategy builds, and measures again, only its own sender. The flags are in copycost.toolchain.
from copycost import toolchain

# Relative to the checkout, so that a moved one still has the same inputs.
CHECKOUT = Path()


rule build_sender:
    input:
        sources=lambda wildcards: toolchain.sources(
            "sender", wildcards.implementation, CHECKOUT
        ),
        code=package_files("toolchain.py"),
    output:
        program="results/bin/sender_{implementation}",
    log:
        "results/logs/build_sender/{implementation}.log",
    message:
        "Compiling the sender of {wildcards.implementation}"
    script:
        "../scripts/build_sender.py"


rule build_receiver:
    input:
        sources=toolchain.sources("receiver", None, CHECKOUT),
        code=package_files("toolchain.py"),
    output:
        program="results/bin/receiver",
    log:
        "results/logs/build_receiver.log",
    message:
        "Compiling the receiver"
    script:
        "../scripts/build_receiver.py"
