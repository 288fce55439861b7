"""The dependency graph of a run: nodes, edges, and how they are found in a trace."""
