"""What a kernel tells of its host: processor, network, virtualisation, tools."""
