"""Rows of a batch through the looked-at operators: which have no effect, and which are computed again."""
