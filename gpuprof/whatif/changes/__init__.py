"""Changes to the graph: what a fix would do to durations and edges."""
