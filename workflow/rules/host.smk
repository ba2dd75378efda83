# What the host is and what can be counted on it. Every cell depends on the content of this file.


rule collect_host:
    input:
        # Not the doctor: it only shows facts, and an edit of it must not measure anything again.
        code=package_files(
            "hostinfo/collect.py",
            "hostinfo/cpu.py",
            "hostinfo/files.py",
            "hostinfo/kernel.py",
            "hostinfo/net.py",
            "hostinfo/packages.py",
            "hostinfo/perf_events.py",
            "hostinfo/processor.py",
            "hostinfo/testbed_probe.py",
            "hostinfo/testbeds.py",
            "hostinfo/tools.py",
            "hostinfo/virtualisation.py",
            "measure/cpulist.py",
            "measure/perf_output.py",
            "testbed",
        ),
    output:
        host="results/host.json",
    log:
        "results/logs/host.log",
    params:
        # Another kernel, processor or limit is another host: collect again, measure again.
        identity=HOST_IDENTITY,
    message:
        "Collect what this host is and what can be counted on it"
    script:
        "../scripts/collect_host.py"
