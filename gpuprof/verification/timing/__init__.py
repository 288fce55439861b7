"""Timed blocks, warm-up, and when enough was measured."""
