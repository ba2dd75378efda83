"""Hosts that a stream of bytes leads to: an agent runs there, a `RemoteHost` stands for it here."""
