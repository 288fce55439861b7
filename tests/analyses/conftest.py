"""Fixtures of the analyses' tests."""

from __future__ import annotations

import pytest

from gpuprof.model.trace import Source, Trace, empty_tables


@pytest.fixture
def empty_trace() -> Trace:
    """A Trace of which nothing was recorded."""
    return Trace(Source("empty.json"), (), empty_tables(), 0, 0)
