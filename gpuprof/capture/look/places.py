"""Which line of the user's code an operator comes from, and whether it runs in compiled code, read off the stack."""

from __future__ import annotations

import sys
from enum import IntEnum
from types import CodeType, FrameType

from gpuprof.capture.base.notebook_files import is_users
from gpuprof.capture.stacks.folding import OWN_FOLDER, is_library
from gpuprof.model.look import LookedPlace

_MOST_FRAMES = 300
# of a path: of deeper recursion the innermost ones
_MOST_LINES = 32
UNKNOWN, COMPILED = -1, -2


# from the innermost line outward
LinePath = tuple[LookedPlace, ...]


class _CodeKind(IntEnum):
    LIBRARY = 0
    USERS = 1
    COMPILED = 2


class Places:
    """Numbers the user's lines. `found` are they, in order; the profiled cell's own file has the name "".

    `paths`: the chains of lines that were noted.
    """

    def __init__(self, cell_filename: str | None):
        self._cell = cell_filename
        self._kinds: dict[CodeType, _CodeKind] = {}
        self._numbers: dict[tuple[CodeType, int], int] = {}
        self._modules: frozenset[CodeType] = frozenset()
        self.found: list[LookedPlace] = []
        self._paths: dict[tuple[tuple[CodeType, int], ...], int] = {}
        self._lines_of: dict[int, LinePath] = {}

    @property
    def paths(self) -> set[LinePath]:
        """The chains of lines that `note_path` met."""
        return {self._lines(path, number) for path, number in self._paths.items()}

    @property
    def numbered_paths(self) -> tuple[tuple[int, ...], ...]:
        """The same by their numbers: each line as its number in `found`."""
        return tuple(tuple(self._number(code, line) for code, line in path) for path in self._paths)

    def path_of(self, frame: FrameType | None) -> LinePath:
        """The user's lines on the stack, from the innermost to the cell's own: one function that is called from two
        loops is two paths. Empty where there is none."""
        path = self._path(frame)
        return self._lines(path, self._paths.setdefault(path, len(self._paths)))

    def note_path(self, frame: FrameType | None) -> int:
        """Note which path it is, for `paths`; its number."""
        return self._paths.setdefault(self._path(frame), len(self._paths))

    def _path(self, frame: FrameType | None) -> tuple[tuple[CodeType, int], ...]:
        path = list[tuple[CodeType, int]]()
        kinds = self._kinds
        for _ in range(_MOST_FRAMES):
            if frame is None or len(path) == _MOST_LINES:
                break
            code = frame.f_code
            kind = kinds.get(code)
            if kind is None:
                kind = self._known(code)
            if kind is _CodeKind.USERS:
                path.append((code, frame.f_lineno))
                if code.co_filename == self._cell and code.co_name == "<module>":
                    break
            frame = frame.f_back
        return tuple(path)

    def _lines(self, path: tuple[tuple[CodeType, int], ...], number: int) -> LinePath:
        lines = self._lines_of.get(number)
        if lines is None:
            lines = self._lines_of[number] = tuple(self._line(code, line) for code, line in path)
        return lines

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
                kind = self._known(code)
            if kind is _CodeKind.USERS:
                return self._number(code, frame.f_lineno)
            if kind is _CodeKind.COMPILED:
                return COMPILED
            frame = frame.f_back
        return UNKNOWN

    def of_call(self, frame: FrameType | None) -> int:
        """The place from which the outermost module on the stack was called; else the innermost one, as in `of`."""
        kinds = self._kinds
        modules = self._modules = self._modules or _module_code()
        found: FrameType | None = None
        called = True  # the next line of the user's is it
        for _ in range(_MOST_FRAMES):
            if frame is None:
                break
            code = frame.f_code
            if code in modules:
                called = True
            elif called:
                kind = kinds.get(code)
                if kind is None:
                    kind = self._known(code)
                if kind is _CodeKind.USERS:
                    found, called = frame, False
            if code.co_filename == self._cell and code.co_name == "<module>":
                break
            frame = frame.f_back
        return UNKNOWN if found is None else self._number(found.f_code, found.f_lineno)

    def of_thread(self, ident: int) -> int:
        """The same for what another thread runs now."""
        return self.of(sys._current_frames().get(ident))

    def _known(self, code: CodeType) -> _CodeKind:
        kind = self._kinds.get(code)
        if kind is None:
            kind = self._kinds[code] = self._kind(code.co_filename)
        return kind

    def _number(self, code: CodeType, line: int) -> int:
        number = self._numbers.get((code, line))
        if number is None:
            number = self._numbers[code, line] = len(self.found)
            self.found.append(self._line(code, line))
        return number

    def _line(self, code: CodeType, line: int) -> LookedPlace:
        return LookedPlace("" if code.co_filename == self._cell else code.co_filename, line, code.co_qualname)

    def _kind(self, filename: str) -> _CodeKind:
        if is_users(filename, self._cell):
            return _CodeKind.USERS
        if _is_compiled(filename):
            return _CodeKind.COMPILED
        return _CodeKind.LIBRARY if filename.startswith(OWN_FOLDER) or is_library(filename) else _CodeKind.USERS


def _module_code() -> frozenset[CodeType]:
    """What runs where a module is called."""
    import torch

    methods = (getattr(torch.nn.Module, name, None) for name in ("_call_impl", "_wrapped_call_impl"))
    found = (getattr(each, "__code__", None) for each in methods)
    return frozenset(each for each in found if each is not None)


def _is_compiled(filename: str) -> bool:
    """Code around or of a compiled graph. Code of `torch.fx` counts where torch.compile has been used at all."""
    path = filename.replace("\\", "/")
    if "/torch/_functorch/_aot_autograd/" in path or "/torch/_inductor/" in path or "/torchinductor" in path:
        return True
    return filename.startswith("<eval_with_key>") and "torch._dynamo" in sys.modules
