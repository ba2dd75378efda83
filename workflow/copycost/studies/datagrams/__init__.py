"""Datagrams over UDP: what is sent, what arrives, and where the rest was lost."""
