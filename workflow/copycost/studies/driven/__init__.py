"""Studies whose traffic a driver makes, iperf3 or a program of ours in its place: what they share.

A study adds what it varies (a CPU budget, the size of datagrams) and what it looks at besides.
"""
