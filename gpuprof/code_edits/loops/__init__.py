"""Edits of training and evaluation loops."""
