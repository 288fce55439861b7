"""Kernels by origin, category, shape and precision."""
