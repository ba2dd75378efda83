"""How repetitions of cpu_budget and datagrams are measured and recorded."""
