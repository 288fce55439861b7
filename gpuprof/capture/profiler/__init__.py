"""torch.profiler and what is hooked into torch while it records."""
