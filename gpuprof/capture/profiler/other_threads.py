"""Notices training and loading on other threads than the one that torch's profiler records."""

from __future__ import annotations

import threading


class OtherThreads:
    """Made on the recorded thread; the two calls come from whichever thread does the work."""

    def __init__(self) -> None:
        self._recorded = threading.get_ident()
        self._stepped = False
        self._asked = False

    def optimizer_stepped(self) -> None:
        """An optimizer has stepped on the calling thread."""
        self._stepped = self._stepped or threading.get_ident() != self._recorded

    def batch_asked(self) -> None:
        """A DataLoader has been asked for a batch on the calling thread."""
        self._asked = self._asked or threading.get_ident() != self._recorded

    def notes(self) -> list[str]:
        """What the kernel recording lacks therefore, one sentence each."""
        why = "torch's profiler records operators only on the thread that runs the cell"
        notes = []
        if self._stepped:
            notes.append(
                f"an optimizer stepped on another thread, and {why}: the operators of that training are missing here; "
                "train on the main thread to have them"
            )
        if self._asked:
            notes.append(
                f"a DataLoader was read on another thread, and {why}: the waits for its batches are known, but the "
                "cell itself did not wait for them, and what loading ran there is missing here"
            )
        return notes
