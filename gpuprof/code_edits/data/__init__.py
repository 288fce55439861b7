"""Edits of how data is loaded, made and moved."""
