"""The process and its machine: CPU time, memory, environment."""
