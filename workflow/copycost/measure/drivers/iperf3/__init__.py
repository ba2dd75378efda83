"""iperf3 as a driver: what the field quotes, watched in a window of our own."""
