"""What a change would save: the recorded run as a dependency graph, re-timed with the change applied."""
