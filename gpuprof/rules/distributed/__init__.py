"""Rules about several GPUs: collectives, stragglers, idle or uneven devices."""
