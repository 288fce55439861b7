"""Runs code without anybody seeing what it prints, displays, plots or warns of."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Iterator


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)

    def writable(self) -> bool:
        return True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Swallow stdout, stderr, IPython's displays, warnings and logging inside the block."""
    nowhere, disabled = _Nowhere(), logging.root.manager.disable
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(nowhere))
        stack.enter_context(contextlib.redirect_stderr(nowhere))
        stack.enter_context(warnings.catch_warnings())
        if "IPython" in sys.modules:
            from IPython.utils.capture import capture_output

            stack.enter_context(capture_output(stdout=False, stderr=False, display=True))
        if "comm" in sys.modules:
            import comm

            stack.callback(setattr, comm, "create_comm", comm.create_comm)
            # widgets that the front end never hears of
            comm.create_comm = comm.DummyComm
        logging.disable(logging.CRITICAL)
        stack.callback(logging.disable, disabled)
        yield
