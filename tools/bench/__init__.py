"""How fast copycost itself is: its sender beside iperf3, its workflow beside the clock.

Everything is compared within one run, in interleaved rounds, because absolute speeds of one host
say nothing about another, nor about the same host an hour later.
"""
