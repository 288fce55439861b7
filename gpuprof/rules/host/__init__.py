"""Rules about the CPU side of a step: synchronization, launches, Python loops, pauses."""
