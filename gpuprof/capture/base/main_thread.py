"""Runs a function on the main thread while the user's code is running there, between two bytecodes.

By CPython's `Py_AddPendingCall`: soon in Python code, and after the call in one long C call (a sleep, a kernel wait).
Torch.compile leaves alone what runs so, and all that it calls; torch's profiler does not record its operators.
"""

from __future__ import annotations

import _thread
import ast
import ctypes
import signal
import sys
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Any

from gpuprof.capture.base.compiler_skips import hide_from_compiler
from gpuprof.capture.base.exclusive_session import forked
from gpuprof.capture.base.transforms import transformed

_SIGINT = int(signal.SIGINT)
_waiting: deque[Callable[[], None]] = deque()
_add: Any = None
_entry: Any = None
_interrupt: Any = None
# While callbacks run, nothing is added to CPython's queue. With a trace or profile function set, 3.11 would check that
# queue forever at the start of the next Python function (`tests/capture/base/test_main_thread.py` shows it).
_running = _interrupted = False


def call_on_main_thread(callback: Callable[[], None]) -> bool:
    """Ask for one call of `callback`; False where CPython's queue is full or there is no such queue.

    What `callback` raises is dropped, but for KeyboardInterrupt, which reaches the user's code right after.
    """
    if sys.implementation.name != "cpython":
        return False
    _prepare()
    _waiting.append(callback)
    if _running:  # they run it too
        return True
    if _add(_entry, None) == 0:
        return True
    try:
        _waiting.remove(callback)
    except ValueError:  # it has run meanwhile, with those before it
        return True
    return False


class MainThreadCall:
    """One call of `callback` at a time on the main thread, asked for from another one.

    No call while Python makes a syntax tree there, which a callback of the garbage collector can interrupt: until
    3.11.9 and 3.12.3 it fails where another one is made meanwhile, and what a look imports may do so. With
    `in_transforms` False no call either while a transform of `torch.func` runs, of which torch operators would become
    a part. To be asked again.
    """

    def __init__(self, callback: Callable[[], None], *, in_transforms: bool = True):
        self._callback, self._in_transforms = callback, in_transforms
        self.waiting = False

    def ask(self) -> None:
        """Ask for a call, where none is waiting."""
        if self.waiting:
            return
        self.waiting = True  # before it is asked for: it may have run when the answer is there
        if not call_on_main_thread(self._run):
            self.waiting = False

    def _run(self) -> None:
        self.waiting = False
        if not makes_tree(sys._getframe()) and (self._in_transforms or not transformed()):
            self._callback()


def makes_tree(frame: FrameType | None) -> bool:
    """Whether `ast.parse` is at work in it or further up the stack."""
    while frame is not None:
        if frame.f_code.co_filename == ast.__file__:
            return True
        frame = frame.f_back
    return False


def _prepare() -> None:
    global _add, _entry, _interrupt
    if _add is not None:
        return
    if "torch" in sys.modules:
        hide_from_compiler(_run_one, begin_unseen, end_unseen, _compiler, _recorder)
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    # CPython keeps the bare address: the object must live as long as the process
    _entry = prototype(_run_one)
    _interrupt = ctypes.cast(ctypes.pythonapi.PyErr_SetInterruptEx, prototype)
    add = ctypes.pythonapi.Py_AddPendingCall
    add.argtypes, add.restype = [prototype, ctypes.c_void_p], ctypes.c_int
    _add = add


def _run_one(_: object) -> int:
    global _interrupted
    unseen = begin_unseen()
    try:
        _run_waiting()
    finally:
        end_unseen(unseen)
        if _interrupted:
            _interrupted = False
            _add(_interrupt, _SIGINT)
    return 0


def begin_unseen() -> Any:
    """From here on torch neither compiles nor records what runs: a look at the user's tensors is no work of the cell.

    For `end_unseen`. No context manager: until then torch.compile would compile what runs it.
    """
    # between two graphs torch.compile would otherwise compile what runs here
    compiler = _compiler()
    before = None if compiler is None else compiler.set_eval_frame(None)
    record = _recorder()
    if record is not None:
        record(False)
    # a forked child records nothing
    return compiler, before, record, not forked()


def end_unseen(unseen: Any) -> None:
    """As it was before `begin_unseen`."""
    compiler, before, record, records = unseen
    if record is not None:
        record(records)
    if compiler is not None:
        compiler.set_eval_frame(before)


def _run_waiting() -> None:
    """All of them, with those that other threads ask for meanwhile."""
    global _running
    while _waiting:
        _running = True
        try:
            _waiting.popleft()()
        except KeyboardInterrupt:
            interrupt_soon()
        except Exception:  # noqa: BLE001  - called by the interpreter in the middle of the user's code: nobody to tell
            pass
        finally:
            # before the next look at `_waiting`: whoever asks after that adds to the queue again
            _running = False


def _recorder() -> Any:
    """Torch's function that switches the recording of operators on this thread; None where torch is not loaded."""
    autograd = getattr(sys.modules.get("torch"), "autograd", None)
    return getattr(autograd, "_enable_record_function", None)


def _compiler() -> Any:
    """Torch's module that evaluates frames, where `torch._dynamo` is in use; its function has had this name since
    torch 2.0."""
    if "torch._dynamo" not in sys.modules:
        return None
    # as it is imported, parts of it may be missing
    parts = getattr(getattr(sys.modules.get("torch"), "_C", None), "_dynamo", None)
    frames = getattr(parts, "eval_frame", None)
    return frames if hasattr(frames, "set_eval_frame") else None


def interrupt_soon() -> None:
    """Deliver Ctrl-C to the user's code, from within a callback: raised in there it would be lost.

    CPython's own C function is queued behind the callback that runs now: no Python code of ours comes after it.
    """
    global _interrupted
    _prepare()
    if _running:
        _interrupted = True
    elif _add(_interrupt, _SIGINT) != 0:
        _thread.interrupt_main()
