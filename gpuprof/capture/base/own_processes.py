"""Processes that gpuprof itself has started: no part of what the user's run is made of."""

from __future__ import annotations

OWN: set[int] = set()
"""Their ids, from their start until their end is known."""
