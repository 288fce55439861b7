"""Notes now and then which values the user's variables have: whether each is made anew, with what content.

A value that is made again and again with the same content need be made but once, by whatever library; numbers that have
decayed below the usual form slow down everything that reads them. The look runs on the main thread, between two
bytecodes of the cell, and keeps numbers and names alone.
"""

from __future__ import annotations

import dis
import sys
import time
import weakref
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType
from typing import Any

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.attributes import attributes_of
from gpuprof.capture.base.frame_variables import with_variables
from gpuprof.capture.base.main_thread import MainThreadCall
from gpuprof.capture.base.next_returns import NextReturns, can_follow
from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.lines.content_marks import mark_of
from gpuprof.capture.lines.operand_facts import kind_name
from gpuprof.capture.lines.subnormal_looks import SubnormalLooks
from gpuprof.capture.stacks.folding import OWN_FOLDER, is_library
from gpuprof.model.operands import MadeValue

# of the looks, those at what returns next by themselves
_SHARE, _FOLLOWING = 0.75, 0.3
_MOST_FRAMES, _MOST_OWN = 80, 6
# of functions that run for each item, looks a tenth of a second apart see items that have nothing to do with each other
_IN_TURN = 5
_WAITS, _WAIT_S = 4, 0.002
_SLOWER = 0.7  # of the time that functions are followed: Python's share of it, and looking
_MOST_VARIABLES = 400
_OPTIMIZED = 0x1  # CO_OPTIMIZED: a function
_OBJECT = ("self", "cls")
# from here on a variable that has something else nearly each time is not looked into any more
_ENOUGH, _MOST_DIFFERENT = 24, 0.75
_SPOTS = 8


class ValueWatch(Signal):
    """From `begin` to `end`; `tick` comes from the watching thread."""

    field = "made_values"
    ends_first = True

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._library: dict[str, bool] = {}
        self._names: dict[CodeType, tuple[str, ...]] = {}
        self._seen: dict[tuple[CodeType, str], _Variable] = {}
        self._budget = self.cell.budget.part(_SHARE)
        self._following = self.cell.budget.part(_FOLLOWING)
        self._running = self._may_follow = False
        self._returns = NextReturns(self._note_variables, self._spend_following)
        self._next_look, self._next_end = (
            MainThreadCall(self._look, in_transforms=False),
            MainThreadCall(self._returns.end),
        )

    def begin(self) -> None:
        """Look from now on."""
        self._running = True

    def end(self) -> None:
        """Look no more."""
        self._running = False
        self._returns.end()

    def tick(self, resident_bytes: int = 0) -> None:
        """Ask for a look, where the last ones took little; wait for the end of what it follows."""
        if not self._running or not self._budget.is_left:
            return
        self._may_follow = self._following.is_left
        self._next_look.ask()
        for _ in range(_WAITS):
            if not self._next_look.waiting and not self._returns.running:
                break
            time.sleep(_WAIT_S)
        # nobody would end what a later look begins to follow
        self._may_follow = False
        if self._returns.running:
            self._next_end.ask()

    def facts(self) -> tuple[MadeValue, ...]:
        """What was made anew at least once, or held subnormal numbers."""
        found = [each.value(code, name) for (code, name), each in self._seen.items()]
        return tuple(each for each in found if each.made > 1 or each.subnormal_looks)

    def _look(self) -> None:
        if not self._running or exclusive_session.forked() or sys.gettrace() is not None:
            return
        with self._budget.spending():
            own = list(self._own_frames(sys._getframe(1)))
            for each in own:
                self._note(each)
        functions = [each for each in own if can_follow(each.f_code)]
        if functions and self._may_follow and not _mode_is_on():
            self._returns.begin(functions, _IN_TURN)

    def _own_frames(self, frame: FrameType | None) -> Iterator[FrameType]:
        """Those of the user's own code, from the innermost on."""
        own = 0
        for _ in range(_MOST_FRAMES):
            if frame is None or own == _MOST_OWN:
                return
            if not self._is_library(frame.f_code.co_filename):
                own += 1
                yield frame
            frame = frame.f_back

    def _spend_following(self, took_ns: int) -> None:
        self._following.spend(round(_SLOWER * took_ns))

    def _is_library(self, filename: str) -> bool:
        known = self._library.get(filename)
        if known is None:
            known = self._library[filename] = filename.startswith(OWN_FOLDER) or is_library(filename)
        return known

    def _note(self, frame: FrameType) -> None:
        with_variables(frame, lambda variables: self._note_variables(frame.f_code, variables))

    def _note_variables(self, code: CodeType, variables: Mapping[str, Any]) -> None:
        names = self._names.get(code)
        if names is None:
            names = self._names[code] = _given_in(code)
        self._note_each(code, names, variables)

    def _note_each(self, code: CodeType, names: tuple[str, ...], variables: Mapping[str, Any]) -> None:
        for name in names:
            base, _, attribute = name.partition(".")
            held = variables if not attribute else attributes_of(variables.get(base)) or {}
            if (attribute or base) not in held:
                continue
            seen = self._seen.get((code, name))
            if seen is None:
                if len(self._seen) >= _MOST_VARIABLES:
                    continue
                seen = self._seen[code, name] = _Variable()
            seen.note(held[attribute or base])


def _mode_is_on() -> bool:
    """Whether a dispatch mode sees each operator: the close look, or a mode of the user's."""
    torch_c = getattr(sys.modules.get("torch"), "_C", None)
    stack = getattr(torch_c, "_len_torch_dispatch_stack", None)
    return stack is not None and stack() > 0


def _given_in(code: CodeType) -> tuple[str, ...]:
    """The variables that this code gives a value to: of a function its arguments as well, and the attributes of the
    first one (`self.x`)."""
    if code.co_flags & _OPTIMIZED:
        if code.co_name.startswith("<"):
            return ()
        names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *_attributes_given(code)))
        return tuple(each for each in names if each not in _OBJECT)
    if code.co_name != "<module>":
        return ()
    stored = [each.argval for each in dis.get_instructions(code) if each.opname in ("STORE_NAME", "STORE_GLOBAL")]
    return tuple(dict.fromkeys(each for each in stored if not each.startswith("_")))


def _attributes_given(code: CodeType) -> Iterator[str]:
    if not code.co_argcount:
        return
    first, before = code.co_varnames[0], None
    for each in dis.get_instructions(code):
        if each.opname == "STORE_ATTR" and before is not None and "LOAD_FAST" in before.opname:
            # from Python 3.13 on one instruction loads two variables
            owner = before.argval[-1] if isinstance(before.argval, tuple) else before.argval
            if owner == first:
                yield f"{first}.{each.argval}"
        before = each


class _Variable:
    """All looks at one."""

    def __init__(self) -> None:
        self._looks = self._made = self._bytes = 0
        self._marks = set[int]()
        self._last: Any = None
        self._kind = ""
        self._unknown = self._told = False
        self._subnormals = SubnormalLooks()

    def note(self, value: Any) -> None:
        self._looks += 1
        self._subnormals.note(value)
        if self._unknown or self._is_last(value):
            return
        self._made += 1
        mark = mark_of(value)
        if mark is None:
            self._unknown, self._last = True, None
            return
        self._last = _identity(value)
        self._kind = kind_name(type(value)).rpartition(".")[2]
        self._bytes, self._told = max(self._bytes, mark.bytes), self._told or mark.told
        self._marks.add(mark.number)
        if len(self._marks) >= _ENOUGH and len(self._marks) > _MOST_DIFFERENT * self._made:
            self._unknown = True

    def _is_last(self, value: Any) -> bool:
        if isinstance(self._last, weakref.ref):
            return self._last() is value
        return bool(self._last == _identity(value)) if self._last is not None else False

    def value(self, code: CodeType, name: str) -> MadeValue:
        return MadeValue(
            file=code.co_filename,
            function=code.co_name,
            first=code.co_firstlineno,
            name=name,
            kind=self._kind,
            looks=self._looks,
            made=self._made,
            contents=0 if self._unknown else len(self._marks),
            bytes=self._bytes,
            told=self._told,
            subnormal_looks=self._subnormals.found,
            subnormal_share=round(self._subnormals.share, 3),
            double=self._subnormals.double,
            times_slower=round(self._subnormals.times_slower, 1),
        )


def _identity(value: Any) -> Any:
    """A weak reference where there can be one; else numbers that hardly come again for another object."""
    kind = type(value)
    if kind is list or kind is tuple:
        return (id(value), len(value), *map(id, value[:: max(len(value) // _SPOTS, 1)]))
    if kind is dict:
        return (id(value), len(value))
    try:
        return weakref.ref(value)
    except TypeError:
        return (id(value),)
