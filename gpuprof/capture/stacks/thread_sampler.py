"""Samples the stack of the cell's thread from a thread of ours, whenever the GIL is free.

What it sees is true at the instant at which it sees it, so it tells which line called the operator that runs then. It
cannot tell how long code took that held the GIL meanwhile: such a stretch is given to the function that the stacks
before and after it share, without a line.
"""

from __future__ import annotations

import sys
import threading
import time
from array import array
from types import CodeType, FrameType

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.stacks.folding import Frame, StackTree, is_ours
from gpuprof.units import NS_PER_S

_PERIOD_NS = 10_000_000
_SHARE = 0.005  # of the time, in this thread
# woken within this time, the GIL was free when it was asked for
_PROMPT_NS = 1_000_000
_MOST_SAMPLES = 500_000
_MOST_FRAMES = 200
UNKNOWN_LINE = -1


class ThreadSampler:
    """Samples the thread that made it, from `start` to `stop`; `clear` forgets what was seen so far."""

    how = "thread"

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._codes: dict[int, CodeType] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._stacks: list[tuple[int, ...]] = []
        self.clear()

    def clear(self) -> None:
        """Forget every sample."""
        self._times, self._late_ns, self._seen = array("q"), array("q"), array("i")
        self.cpu_ns = 0
        self.samples = 0

    @property
    def rate_hz(self) -> int:
        """How often it means to look."""
        return NS_PER_S // _PERIOD_NS

    def start(self) -> None:
        """Begin; nothing a second time."""
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="gpuprof stacks", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End, and wait for the thread; nothing where it does not run."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None and not exclusive_session.forked():
            thread.join(1.0)

    def instants(self, tree: StackTree) -> list[tuple[int, int]]:
        """Every sample: when (Unix ns), and its node."""
        nodes = self._nodes(tree)
        return [(at, nodes[seen]) for at, seen in zip(self._times, self._seen, strict=False)]

    def stretches(self, tree: StackTree) -> list[tuple[int, int, int]]:
        """(begin, end, node) of the time between every two samples, as seen at its end."""
        nodes, rows = self._nodes(tree), []
        ours = [is_ours(self._frames(number)) for number in range(len(self._stacks))]
        for at in range(1, len(self._seen)):
            if ours[self._seen[at]]:
                continue
            begin, end, late = self._times[at - 1], self._times[at], self._late_ns[at]
            if late > _PROMPT_NS:
                shared = _shared(self._frames(self._seen[at - 1]), self._frames(self._seen[at]))
                rows.append((begin, end - late, nodes[self._seen[at]]))
                begin, node = max(begin, end - late), tree.node(shared)
                rows.append((begin, end, node))
            else:
                rows.append((begin, end, nodes[self._seen[at]]))
        return [(begin, end, node) for begin, end, node in rows if end > begin]

    def _run(self) -> None:
        period_ns = _PERIOD_NS
        due_ns = time.monotonic_ns() + period_ns
        while not self._stop.wait(max(due_ns - time.monotonic_ns(), 0) / NS_PER_S):
            now_ns, began_ns = time.monotonic_ns(), time.thread_time_ns()
            if exclusive_session.forked() or len(self._times) >= _MOST_SAMPLES:
                return
            frame = sys._current_frames().get(self._main)
            if frame is not None:
                self._times.append(time.time_ns())
                self._late_ns.append(max(now_ns - due_ns, 0))
                self._seen.append(self._number(frame))
            del frame
            self.samples += 1
            self.cpu_ns += time.thread_time_ns() - began_ns
            period_ns = max(_PERIOD_NS, int(self.cpu_ns / self.samples / _SHARE))
            due_ns = max(due_ns + period_ns, now_ns)

    def _number(self, frame: FrameType) -> int:
        key: list[int] = []
        each: FrameType | None = frame
        while each is not None and len(key) < 2 * _MOST_FRAMES:
            code = each.f_code
            if id(code) not in self._codes:
                self._codes[id(code)] = code  # held, so that its id stays its own
            key += (id(code), each.f_lineno or 0)
            each = each.f_back
        number = self._numbers.get(tuple(key))
        if number is None:
            number = self._numbers[tuple(key)] = len(self._stacks)
            self._stacks.append(tuple(key))
        return number

    def _frames(self, number: int) -> tuple[Frame, ...]:
        """The frames of a stack, outermost first."""
        key = self._stacks[number]
        pairs = zip(key[-2::-2], key[-1::-2], strict=True)
        return tuple((code.co_filename, code.co_qualname, line) for at, line in pairs if (code := self._codes[at]))

    def _nodes(self, tree: StackTree) -> list[int]:
        return [tree.node(self._frames(number)) for number in range(len(self._stacks))]


def _shared(before: tuple[Frame, ...], after: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames that both stacks have, the innermost without its line: the time between may be another's."""
    shared: list[Frame] = []
    for one, other in zip(before, after, strict=False):
        if one[:2] == other[:2]:
            shared.append(one)
        if one != other:
            break
    return (*shared[:-1], (*shared[-1][:2], UNKNOWN_LINE)) if shared else ()
