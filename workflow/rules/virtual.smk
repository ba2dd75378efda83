# Guests: the kernel and the first file system that they boot, and what they then are. Made where a
# cell is in one; every cell that is depends on the content of results/guest.json.
from copycost.hosts.guest.build_image import guest_identity

VIRTUAL = CONFIG.as_dict()["virtual"]


rule build_guest:
    output:
        kernel="results/guest/kernel",
        initrd="results/guest/initrd",
        made="results/guest/made.json",
    log:
        "results/logs/build_guest.log",
    params:
        kernel=VIRTUAL["kernel"],
        network_device=VIRTUAL["network_device"],
        # What is in it is the host's: other programs make another guest.
        identity=lambda wildcards: guest_identity(),
    script:
        "../scripts/build_guest.py"


rule collect_guest:
    input:
        kernel=rules.build_guest.output.kernel,
        initrd=rules.build_guest.output.initrd,
        made=rules.build_guest.output.made,
    output:
        guest="results/guest.json",
    log:
        "results/logs/collect_guest.log",
    # A guest is booted, which must not disturb a measurement.
    threads: workflow.cores
    params:
        virtual=VIRTUAL,
        identity=lambda wildcards: host_identity(),
    script:
        "../scripts/collect_guest.py"
