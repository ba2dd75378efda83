"""Who makes traffic: our C programs, or iperf3."""
