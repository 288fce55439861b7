"""From a running cell to a Recording. The only layer that touches torch and NVML."""
