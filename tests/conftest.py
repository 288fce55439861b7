"""Fixtures for every test."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from tests.support.shared import NAMES, shared_path

# A busy machine makes single examples slow; the suite's own timeout catches what hangs.
settings.register_profile("gpuprof", deadline=None)
settings.load_profile("gpuprof")


@functools.cache
def _load(name: str) -> Any:
    from gpuprof.ingest.load import load_trace

    return load_trace(shared_path(name))


@pytest.fixture
def shared_trace() -> Callable[[str], Any]:
    """`shared_trace("a100-copies-pinned")` is that recorded trace, read once a session."""
    return lambda name: (shared_path(name), _load(name))[1]


@pytest.fixture(params=NAMES)
def any_shared_trace(request: pytest.FixtureRequest) -> Any:
    """Each shared trace in turn."""
    shared_path(request.param)
    return _load(request.param)
