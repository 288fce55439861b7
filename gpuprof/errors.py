"""Everything gpuprof raises, as one tree.

    GpuprofError
    ├── UsageError            an option or argument is wrong; nothing was run
    ├── CaptureError          the profiler could not be started or stopped
    │   └── ProfilerBusyError another profiler is active in this process
    ├── TraceError            a trace file could not be read
    │   ├── UnreadableError   it is missing, empty, locked, cut before its first event, or broken inside
    │   └── ForeignFileError  it is readable, but it is not a Kineto trace
    ├── RecordingError        a Recording on disk is missing, of another format version, or could not be written
    └── VerificationError     a change cannot be measured against the original; nothing was changed
        └── VariantError          one of the two raised an exception of its own; its `__cause__`

Every message is one line: what happened, where, what was expected, what to do.
"""

from __future__ import annotations

from pathlib import Path


class GpuprofError(Exception):
    """Base of every error that gpuprof raises on purpose."""


class UsageError(GpuprofError):
    """An option or argument is wrong; nothing was run."""


class CaptureError(GpuprofError):
    """The profiler could not be started or stopped."""


class ProfilerBusyError(CaptureError):
    """Another profiler is active in this process; starting ours would damage it."""


class TraceError(GpuprofError):
    """A trace file could not be read.

    `path` is the file, `where` the place in it (a byte offset or a key), `expected` what should have stood there.
    """

    def __init__(self, path: Path | str, problem: str, *, where: str | None = None, expected: str | None = None):
        self.path = Path(path)
        self.problem = problem
        self.where = where
        self.expected = expected
        at = f" at {where}" if where else ""
        wanted = f"; expected {expected}" if expected else ""
        super().__init__(f"{self.path}: {problem}{at}{wanted}")


class UnreadableError(TraceError):
    """The file is missing, empty, locked, cut before its first event, or broken inside."""


class ForeignFileError(TraceError):
    """The file is readable, but it is not a Kineto trace."""


class RecordingError(GpuprofError):
    """A Recording on disk is missing, of another format version, or could not be written."""


class VerificationError(GpuprofError):
    """A change cannot be measured against the original; everything is as it was."""


class VariantError(VerificationError):
    """One of the two that are measured raised an exception of its own, its `__cause__`; everything is as it was."""
