"""Which line of the user's code an operator comes from, and whether it runs in compiled code, read off the stack."""

from __future__ import annotations

import sys
from enum import IntEnum
from types import CodeType, FrameType

from gpuprof.capture.base.notebook_files import is_users
from gpuprof.capture.stacks.folding import OWN_FOLDER, is_library
from gpuprof.model.look import LookedPlace

_MOST_FRAMES = 300
UNKNOWN, COMPILED = -1, -2


class _Code(IntEnum):
    LIBRARY = 0
    USERS = 1
    COMPILED = 2


class Places:
    """Numbers the user's lines. `found` are they, in order; the profiled cell's own file has the name ""."""

    def __init__(self, cell_filename: str | None):
        self._cell = cell_filename
        self._kinds: dict[CodeType, _Code] = {}
        self._numbers: dict[tuple[CodeType, int], int] = {}
        self.found: list[LookedPlace] = []

    def of(self, frame: FrameType | None) -> int:
        """The place of the innermost frame of the user's code, from `frame` outward; UNKNOWN where there is none, and
        COMPILED where code that torch.compile made lies in between."""
        kinds = self._kinds
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return UNKNOWN
            code = frame.f_code
            kind = kinds.get(code)
            if kind is None:
                kind = kinds[code] = self._kind(code.co_filename)
            if kind is _Code.USERS:
                return self._number(code, frame.f_lineno)
            if kind is _Code.COMPILED:
                return COMPILED
            frame = frame.f_back
        return UNKNOWN

    def of_thread(self, ident: int) -> int:
        """The same for what another thread runs now."""
        return self.of(sys._current_frames().get(ident))

    def _number(self, code: CodeType, line: int) -> int:
        number = self._numbers.get((code, line))
        if number is None:
            number = self._numbers[code, line] = len(self.found)
            file = "" if code.co_filename == self._cell else code.co_filename
            self.found.append(LookedPlace(file, line, code.co_qualname))
        return number

    def _kind(self, filename: str) -> _Code:
        if is_users(filename, self._cell):
            return _Code.USERS
        if _is_compiled(filename):
            return _Code.COMPILED
        return _Code.LIBRARY if filename.startswith(OWN_FOLDER) or is_library(filename) else _Code.USERS


def _is_compiled(filename: str) -> bool:
    """Code around or of a compiled graph. Code of `torch.fx` counts where torch.compile has been used at all."""
    path = filename.replace("\\", "/")
    if "/torch/_functorch/_aot_autograd/" in path or "/torch/_inductor/" in path or "/torchinductor" in path:
        return True
    return filename.startswith("<eval_with_key>") and "torch._dynamo" in sys.modules
