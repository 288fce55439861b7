"""What a change would save: the recorded run as a dependency graph, simulated with the change applied."""
