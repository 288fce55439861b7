"""What gpuprof says in a notebook beside its reports: one line on stderr, or an error without a traceback."""

from __future__ import annotations

import sys

from IPython.core.error import InputRejected

from gpuprof.errors import UsageError


def notice(text: object) -> None:
    """One line on stderr, marked as ours."""
    sys.stderr.write(f"gpuprof: {' '.join(str(text).split())}\n")
    sys.stderr.flush()


def describe(error: BaseException) -> str:
    """A GpuprofError by its message; any other error with its class, since its message was not written for users."""
    from gpuprof.errors import GpuprofError

    return str(error) if isinstance(error, GpuprofError) else f"{type(error).__name__}: {error}"


class MagicUsageError(UsageError):
    """A wrong option, shown as one line. (IPython's own UsageError leaves no error output for papermill to find.)"""

    def _render_traceback_(self) -> list[str]:
        return [f"UsageError: {self}"]


class InterruptedStartError(InputRejected):  # type: ignore[misc]
    """The user interrupted while the capture was starting: IPython drops the cell."""

    def _render_traceback_(self) -> list[str]:
        return [f"KeyboardInterrupt: {self}"]
