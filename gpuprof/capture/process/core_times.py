"""What the kernel's scheduler says of threads: how long each ran, and how long it was ready to run but had no core.

From `/proc/<process>/task/<thread>/schedstat` (Linux; Documentation/scheduler/sched-stats.rst): nanoseconds on a core,
nanoseconds on a run queue, number of time slices. A limit on processor time set by a container counts as waiting, too.
"""

from __future__ import annotations

import os
from pathlib import Path

# a container's own group is mounted there (cgroup v2, then v1)
_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
_CFS = tuple(Path("/sys/fs/cgroup/cpu") / f"cpu.cfs_{name}_us" for name in ("quota", "period"))


def thread_times(process: int, thread: int) -> tuple[int, int] | None:
    """Nanoseconds that a thread ran, and that it waited for a core, since it began; None where that is not known."""
    try:
        return times_told(Path(f"/proc/{process}/task/{thread}/schedstat").read_bytes())
    except OSError:
        return None


def times_told(schedstat: bytes) -> tuple[int, int] | None:
    """As `thread_times`, of what that file says."""
    try:
        ran, waited, slices = schedstat.split()[:3]
        # a kernel that does not keep these says 0 0 0
        return (int(ran), int(waited)) if int(slices) else None
    except ValueError:
        return None


def own_waits() -> dict[int, int]:
    """For each thread of this process the nanoseconds that it waited for a core; empty where that is not known."""
    try:
        threads = [int(task.name) for task in Path("/proc/self/task").iterdir()]
    except OSError:
        return {}
    times = {thread: thread_times(os.getpid(), thread) for thread in threads}
    return {thread: known[1] for thread, known in times.items() if known is not None}


def waited_between(before: dict[int, int], after: dict[int, int]) -> int | None:
    """Nanoseconds that all threads together waited between two `own_waits`; None where either is not known.

    A thread that ended in between does not count.
    """
    if not before or not after:
        return None
    return sum(max(0, waited - before.get(thread, 0)) for thread, waited in after.items())


def core_limit() -> float | None:
    """Cores that the container's CPU quota is worth; None where there is none, or it cannot be read."""
    try:
        quota, period = _CPU_MAX.read_text().split()
    except (OSError, ValueError):
        try:
            quota, period = (path.read_text().strip() for path in _CFS)
        except OSError:
            return None
    try:
        return int(quota) / int(period) if int(quota) > 0 and int(period) > 0 else None
    except ValueError:  # "max"
        return None
