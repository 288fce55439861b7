from __future__ import annotations

import signal
import threading

import pytest

from gpuprof.capture.session.interrupts import interrupts_held


def test_the_first_waits() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_held() as held:
        signal.raise_signal(signal.SIGINT)
    assert held.arrived
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_gets_through() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_changes_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def hold() -> None:
        with interrupts_held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert seen == [before]
