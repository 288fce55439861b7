"""What a run is once it has been recorded: tables, intervals, names, and the Recording on disk."""
