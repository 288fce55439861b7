"""From what is on disk to a Trace."""
