# The C programs. Each depends on exactly the files that it is compiled from, so that editing one
# strategy builds, and measures again, only its own sender. The flags are in copycost.toolchain.
from copycost import toolchain


def program_sources(program, strategy=None):
    """Relative to the checkout, so that a moved one still has the same inputs."""
    root = Path(workflow.basedir)
    paths = toolchain.sources(program, strategy, root)
    return [str(path.relative_to(root)) for path in paths]


rule build_sender:
    input:
        sources=lambda wildcards: program_sources("sender", wildcards.implementation),
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
        sources=program_sources("receiver"),
        code=package_files("toolchain.py"),
    output:
        program="results/bin/receiver",
    log:
        "results/logs/build_receiver.log",
    message:
        "Compiling the receiver"
    script:
        "../scripts/build_receiver.py"
