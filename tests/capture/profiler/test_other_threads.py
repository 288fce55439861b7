from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gpuprof.capture.session.session import Session
from tests.capture.cells import events, loader, named, train


def in_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def notes_of(session: Session, work: Callable[[], object]) -> tuple[tuple[str, ...], int]:
    """The notes about other threads, and how many optimizer steps the recording holds."""
    session.start()
    work()
    captured = session.stop()
    found = tuple(note for note in captured.context.notes if "another thread" in note)
    return found, len(named(events(captured.kineto), "Optimizer.step#SGD.step"))


def test_training_on_another_thread_is_said_to_be_missing(new_session: Callable[..., Session]) -> None:
    (note,), recorded = notes_of(new_session(), lambda: in_thread(lambda: train(3)))
    assert note.startswith("an optimizer stepped on another thread")
    assert recorded == 0, "torch records other threads now: the note is wrong"


def test_a_loader_read_on_another_thread_is_said_to_be_missing(new_session: Callable[..., Session]) -> None:
    (note,), _ = notes_of(new_session(), lambda: in_thread(lambda: list(loader(3))))
    assert note.startswith("a DataLoader was read on another thread")


@pytest.mark.parametrize("work", [lambda: train(3), lambda: list(loader(3))], ids=["optimizer", "loader"])
def test_the_recorded_thread_needs_no_note(new_session: Callable[..., Session], work: Callable[[], object]) -> None:
    found, _ = notes_of(new_session(), work)
    assert found == ()
