"""The child processes of this one, by process id."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gpuprof.capture.process.kept_file import KeptFile


class ChildList:
    """On Linux only those of the main thread, which starts loader workers and launchers: asking psutil reads every
    process of the machine, and beside a busy Python loop each read waits 5 ms for its turn."""

    def __init__(self) -> None:
        # on Linux the main thread has the number of its process
        self._listed = KeptFile(f"/proc/{os.getpid()}/task/{os.getpid()}/children")

    def read(self, known: Mapping[int, Any] = MappingProxyType({})) -> dict[int, Any]:
        """A psutil.Process each: that of `known` where it has one. Making one reads two files, and a new one does not
        know yet how much it computes."""
        import psutil

        found = {}
        try:
            for pid in map(int, self._listed.read().split()):
                with contextlib.suppress(psutil.Error):  # it has ended
                    found[pid] = known[pid] if pid in known else psutil.Process(pid)
        except OSError:
            found = {each.pid: known.get(each.pid, each) for each in psutil.Process().children(recursive=True)}
        return found

    def close(self) -> None:
        """Close the file."""
        self._listed.close()
