"""Copies between CPU and GPU, and the waits that belong to them."""
