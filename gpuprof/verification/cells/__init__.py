"""The two variants: how each runs, what it reads, whose code it is."""
