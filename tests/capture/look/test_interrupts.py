"""A real Ctrl-C while a look is on ends the cell, and nothing of the look stays."""

from __future__ import annotations

import signal
import threading
import weakref
from types import FunctionType

import pytest
import torch

from gpuprof.capture.look.close_look import CloseLook


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to a thread")
@pytest.mark.parametrize("after_ms", [1, 7, 20, 45])
def test_a_real_interrupt_goes_through(after_ms: int) -> None:
    values = torch.rand(64, 64)
    main, ended = threading.main_thread().ident, threading.Event()
    assert main is not None

    def interrupt() -> None:
        if not ended.wait(after_ms / 1000):
            signal.pthread_kill(main, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    look = CloseLook(__file__, most_seconds=60)
    waiting = threading.Thread(target=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt), look:
            waiting.start()
            while True:
                values = (values @ values).softmax(1)
    finally:
        ended.set()
        waiting.join()
        signal.signal(signal.SIGINT, before)
    assert torch._C._len_torch_dispatch_stack() == 0 and look.failure is None
    assert torch.isfinite(values + 1).all()
    assert not look.active and not look.installed


def test_what_is_called_when_a_tensor_is_freed_is_no_python_code() -> None:
    """Python drops a Ctrl-C that arrives in there."""
    values = torch.rand(64, 64)
    with CloseLook(__file__, most_seconds=60):
        made = values @ values
        called = [each.__callback__ for each in weakref.getweakrefs(made.untyped_storage())]
        del made
    assert any(each is not None for each in called)
    assert not any(isinstance(each, FunctionType) for each in called)
