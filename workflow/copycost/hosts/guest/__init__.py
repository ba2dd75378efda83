"""Guests: virtual machines of QEMU in which programs run, made and ended by us."""
