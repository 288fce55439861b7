"""Loops written in Python: what they repeat, what they index, what they grow."""
