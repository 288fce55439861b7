"""Profiling without the magic, and reaching what was profiled: `profile()`, `last()`, `history()`."""

from __future__ import annotations

from gpuprof.profiling.context import Profile, profile
from gpuprof.profiling.runs import History, SavedRun, find_run, history, last, remember

__all__ = ["History", "Profile", "SavedRun", "find_run", "history", "last", "profile", "remember"]
