"""Pure functions on a Trace: each file computes one Result."""
