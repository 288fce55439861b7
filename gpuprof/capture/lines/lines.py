"""Which line of the notebook runs when: every line, on Python 3.12 and newer. Before that the sampled stacks tell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.compiler_skips import hide_from_compiler
from gpuprof.capture.base.notebook_files import is_users, source_file, user_frames
from gpuprof.capture.lines.line_log import LineLog, ThreadLog
from gpuprof.capture.lines.line_monitor import LineMonitor
from gpuprof.model.context import FollowedLines, SourceFile
from gpuprof.model.schema import LINE_EVENTS
from gpuprof.model.table import Table


class LineWatch:
    """From `install` to `finish` or `remove`; follows from each `begin` to the next `pause`, the last time counts.

    Nothing here raises: where following fails the run goes without, and `notes` says why. Where it is not `wanted`, and
    before Python 3.12, nothing happens.
    """

    def __init__(self, cell_filename: str | None, namespace: Mapping[str, Any] | None, *, wanted: bool = True):
        self._wanted = wanted and sys.version_info >= (3, 12)
        self._namespace = namespace
        self._log = LineLog(cell_filename)
        self._follower = LineMonitor(self._log)
        self._start_ns = self._end_ns = 0
        self._failures: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what could not be followed."""
        return (*self._failures, *self._follower.notes)

    def install(self) -> None:
        """Get ready; torch is imported here."""
        self._guarded(self._hide)
        self._guarded(self._follower.install)

    def begin(self) -> None:
        """Follow from here on; what was followed before is forgotten."""
        self._start_ns, self._end_ns = time.time_ns(), 0
        self._guarded(self._follower.begin)

    def pause(self) -> None:
        """Follow no further."""
        self._end_ns = self._end_ns or time.time_ns()
        self._guarded(self._follower.pause)

    def remove(self) -> None:
        """End, and put everything back."""
        self._guarded(self._follower.remove)

    def finish(self) -> tuple[FollowedLines | None, Table]:
        """End, and return what was seen: None and no rows where nothing was followed."""
        self.pause()
        self.remove()
        try:
            table = self._log.table()
        except Exception as error:  # noqa: BLE001  - a fault of ours must not cost the user the run
            self._failures.append(f"the lines could not be followed ({type(error).__name__}: {error})")
            table = Table(LINE_EVENTS)
        if not table or not self._start_ns:
            return None, table
        length_ns = self._end_ns - self._start_ns
        others = tuple(source_file(name, self._namespace) for name in self._log.files[1:])
        return FollowedLines(
            how=self._follower.how,
            start_ns=self._start_ns,
            end_ns=self._follower.ended_ns or self._end_ns,
            files=(SourceFile(filename=self._log.files[0]), *others),
            cost_share=self._follower.cost_ns / length_ns if length_ns > 0 else None,
        ), table

    def _hide(self) -> None:
        hide_from_compiler(type(self._follower), LineLog, ThreadLog)
        hide_from_compiler(exclusive_session.forked, user_frames, is_users)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            if self._wanted:
                action()
        except Exception as error:  # noqa: BLE001  - as above; a Ctrl-C passes
            self._failures.append(f"the lines could not be followed ({type(error).__name__}: {error})")
