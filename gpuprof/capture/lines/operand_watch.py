"""Notes now and then what the names of the code that runs stand for: kinds, lengths, whether they are the same object.

The look runs on the main thread, between two bytecodes of the cell: there no frame can end meanwhile, and nothing of
the user's is let go by a thread of ours. It keeps numbers and names alone, and calls nothing of the user's. Where it
falls within a function is not where the time goes: it comes when the GIL is given up. So it notes all names of the
functions that run. Names of the notebook's that no look fell on are looked at once, as the cell ends.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections import deque
from collections.abc import Mapping
from types import FrameType
from typing import Any

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.frame_variables import with_variables
from gpuprof.capture.base.main_thread import MainThreadCall, makes_tree
from gpuprof.capture.base.notebook_files import is_users
from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.lines.names_read import Chain, tree_of
from gpuprof.capture.lines.operand_facts import attribute
from gpuprof.capture.lines.operands_seen import NameScope, OperandsSeen
from gpuprof.capture.stacks.folding import OWN_FOLDER, is_library
from gpuprof.model.operands import Operands

_SHARE = 0.3  # of the looks
_MOST_FRAMES, _MOST_OWN = 80, 4
_Variables = Mapping[str, Any]


class OperandWatch(Signal):
    """From `begin` to `end`; `tick` comes from the watching thread."""

    field = "operands"
    ends_first = True

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._seen = OperandsSeen()
        self._wanted: set[str] = set()
        self._texts: deque[tuple[str, str]] = deque()
        self._trees: deque[tuple[str, ast.Module]] = deque()
        self._library: dict[str, bool] = {}
        self._budget = self.cell.budget.part(_SHARE)
        self._looks = 0
        self._running = False
        self._next_look = MainThreadCall(self._look, in_transforms=False)

    def begin(self) -> None:
        """Look from now on."""
        self._running = True

    def end(self) -> None:
        """Look no more."""
        if not self._running:
            return
        self._running = False
        namespace = self.cell.namespace
        if self._looks and type(namespace) is dict:
            for filename in [each for each in self._library if is_users(each, None)]:
                for scope in self._seen.scopes(filename):
                    self._note_outer(scope, namespace)

    def tick(self, resident_bytes: int = 0) -> None:
        """Read the texts that were asked for, here as far as possible and not on the main thread; ask for a look."""
        if not self._running:
            return
        while self._wanted:
            filename = self._wanted.pop()
            self._texts.append((filename, "".join(linecache.getlines(filename))))
        while self._trees:
            self._seen.read(*self._trees.popleft())
        if self._budget.is_left:
            self._next_look.ask()

    def facts(self) -> Operands:
        """What was seen so far."""
        return Operands(looks=self._looks, cost_ns=self._budget.spent_ns, seen=self._seen.operands())

    def _look(self) -> None:
        if not self._running or exclusive_session.forked() or sys.gettrace() is not None:
            return
        if self._texts and not makes_tree(sys._getframe()):
            # on the main thread: beside this one, a text that the cell parses just then would fail
            filename, text = self._texts.popleft()
            if (tree := tree_of(text)) is not None:
                self._trees.append((filename, tree))
        with self._budget.spending():
            self._looks += 1
            self._note_stack(sys._getframe(1))

    def _note_stack(self, frame: FrameType | None) -> None:
        own = 0
        for _ in range(_MOST_FRAMES):
            if frame is None or own == _MOST_OWN:
                break
            own += self._note(frame)
            frame = frame.f_back

    def _note(self, frame: FrameType) -> bool:
        """Whether the frame is the user's; then the names of its function are noted."""
        filename = frame.f_code.co_filename
        library = self._library.get(filename)
        if library is None:
            library = self._library[filename] = filename.startswith(OWN_FOLDER) or is_library(filename)
            if not library:
                self._wanted.add(filename)
        if library:
            return False
        scope = self._seen.scope_at(filename, frame.f_lineno or 0)
        if scope is not None and scope.begin_look():
            with_variables(frame, lambda variables: scope.note(lambda chain: _value(chain, variables, frame.f_globals)))
        return True

    def _note_outer(self, scope: NameScope, namespace: dict[str, Any]) -> None:
        """The notebook's names in a function that was never looked at."""
        if not scope.looks:
            scope.note(lambda chain: (False, None) if scope.owns(chain[0]) else _value(chain, {}, namespace))


def _value(chain: Chain, variables: _Variables, outer: Any) -> tuple[bool, Any]:
    """Whether it has a value, and which."""
    name = chain[0]
    if name in variables:
        value = variables[name]
    elif type(outer) is dict and name in outer:
        value = outer[name]
    else:
        return False, None
    for each in chain[1:]:
        known, value = attribute(value, each)
        if not known:
            return False, None
    return True, value
