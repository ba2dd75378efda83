"""What a plain copy of memory costs on this host: the floor under every way to send by copying."""
