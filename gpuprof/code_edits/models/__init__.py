"""Edits of models and of their precision."""
