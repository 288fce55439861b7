"""The profiled cell as rules read it: its lines, its loops, the names it binds, and the diff of a change."""
