"""How much of the cores that this process may run on is in use, by whatever program: from `/proc/stat` (Linux).

The kernel counts for each core the time in each state since it started (Documentation/filesystems/proc.rst): user,
nice, system, idle, iowait, irq, softirq, steal.
"""

from __future__ import annotations

import math
import os

from gpuprof.capture.process.kept_file import KeptFile

_IDLE = slice(3, 5)
_STATES = 8


class CoresInUse:
    """`since_last` gives the cores in use since the call before; NaN the first time, and where that is not known."""

    def __init__(self, path: str = "/proc/stat"):
        self._file = KeptFile(path)
        self._before: tuple[int, int] | None = None

    def since_last(self) -> float:
        """In cores."""
        try:
            now = ticks_told(self._file.read(), os.sched_getaffinity(0), os.cpu_count() or 0)
        except (OSError, AttributeError):
            return math.nan
        before, self._before = self._before, now
        if now is None or before is None or now[1] <= before[1]:
            return math.nan
        return (now[0] - before[0]) / (now[1] - before[1]) * len(os.sched_getaffinity(0))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def ticks_told(stat: bytes, allowed: set[int], cores: int) -> tuple[int, int] | None:
    """Of what that file says: the ticks that these cores were busy, and all their ticks; None where it does not say
    it of each of them, as its first 4 KiB do for some fifty cores, and for all cores together."""
    lines = {line.partition(b" ")[0]: line.split()[1:] for line in stat.splitlines() if line.startswith(b"cpu")}
    names = [b"cpu"] if len(allowed) == cores else [b"cpu%d" % core for core in allowed]
    rows = [lines.get(name, [])[:_STATES] for name in names]
    try:
        told = [[int(each) for each in row] for row in rows]
    except ValueError:
        return None
    if any(len(row) < _STATES for row in told) or not sum(map(sum, told)):
        return None
    whole = sum(map(sum, told))
    return whole - sum(sum(row[_IDLE]) for row in told), whole
