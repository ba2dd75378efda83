"""Where the bytes travel: network namespaces, veth pairs and the loopback device."""
