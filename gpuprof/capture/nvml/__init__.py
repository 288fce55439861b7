"""NVML readings on a thread of their own."""
