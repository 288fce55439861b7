"""Loops in the order of the looked-at operators: which turns do the same, and which need earlier ones."""
