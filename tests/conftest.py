"""Fixtures for every test, and what is done with tests whose recordings are missing."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from tests.support.shared import NAMES, missing, shared_path

if "PYTEST_XDIST_WORKER" in os.environ:
    # workers with a thread of torch's for each core would wait for one another; before torch is imported
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine makes single examples slow; the suite's own timeout catches what hangs.
settings.register_profile("gpuprof", deadline=None)
settings.load_profile("gpuprof")

WITHOUT_FRAMEWORKS = importlib.util.find_spec("lightning") is None
collect_ignore = ["frameworks"] if WITHOUT_FRAMEWORKS else []

LEFT_OUT = pytest.StashKey[int]()
READ_RECORDINGS = {"shared_trace", "any_shared_trace"}


@functools.cache
def _load(name: str) -> Any:
    from gpuprof.ingest.load import load_trace

    return load_trace(shared_path(name))


@pytest.fixture
def shared_trace() -> Callable[[str], Any]:
    """`shared_trace("a100-copies-pinned")` is that public recording, read once a session."""
    return _load


@pytest.fixture(params=NAMES)
def any_shared_trace(request: pytest.FixtureRequest) -> Any:
    """Each public recording in turn."""
    return _load(request.param)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that read public recordings; leave them out where recordings are missing."""
    for item in items:
        if READ_RECORDINGS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("recordings")
    if missing():
        out = [item for item in items if item.get_closest_marker("recordings")]
        config.stash[LEFT_OUT] = len(out)
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if not item.get_closest_marker("recordings")]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist tells how many it left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Every worker collects all tests, so one of them speaks for all."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line instead of a skip for each."""
    if WITHOUT_FRAMEWORKS:
        terminalreporter.write_line("training frameworks are not tested in this environment: run `make frameworks`")
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"{count} tests need the public recordings, {len(missing())} of which are missing here: run `make traces`"
        )
