"""Folds stacks of frames into a tree: each node is one frame below its caller, each stack one node."""

from __future__ import annotations

import functools
import site
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from gpuprof.capture.base.notebook_files import is_users
from gpuprof.model.context import SampledFile
from gpuprof.model.schema import STACK_NODES
from gpuprof.model.table import Table

# file, function, line
Frame = tuple[str, str, int]
OWN_FOLDER = str(Path(__file__).parents[2])
# what begins and ends the recording, saves it, and reads the system: none of it calls the user's code; and looks at
# operators
_AT_WORK = tuple(str(Path(OWN_FOLDER) / "capture" / room) for room in ("session", "look", "process"))
# an operator that is looked at runs in there, as it would without us
_RUNS_OPERATORS = (str(Path(OWN_FOLDER) / "capture" / "look" / "close_look.py"), "dispatched")
MOST_NODES = 200_000


def is_ours(stack: Sequence[Frame]) -> bool:
    """Whether gpuprof itself is at work there, for longer than a hook is: the time is none of the user's line. The
    outermost frame is first."""
    for filename, function, _ in reversed(stack):
        if filename.startswith(_AT_WORK):
            return (filename, function.rpartition(".")[2]) != _RUNS_OPERATORS
    return False


class StackTree:
    """The stacks that were seen, from the first frame of the user's code inward.

    Frames of gpuprof are left out. `files` and `functions` are what the nodes' numbers stand for; file 0 is the cell.
    """

    def __init__(self, cell_filename: str | None):
        self._cell = cell_filename or ""
        self.files: list[SampledFile] = [SampledFile(filename=self._cell, kind="cell")]
        self.functions: list[str] = []
        self._file_of: dict[str, int] = {self._cell: 0}
        self._function_of: dict[str, int] = {}
        self._node_of: dict[tuple[int, int, int, int], int] = {}

    def node(self, stack: Iterable[Frame]) -> int:
        """The node of a stack, outermost frame first; -1 where no code of the user is on it."""
        node = -1
        for filename, function, line in stack:
            if filename.startswith(_AT_WORK):
                break  # an operator that is looked at: without us it would run here
            if filename.startswith(OWN_FOLDER):
                continue
            file = self._file(filename)
            if node < 0 and self.files[file].kind == "library":
                continue
            key = (node, file, self._function(function), line)
            if key not in self._node_of and len(self._node_of) >= MOST_NODES:
                break
            node = self._node_of.setdefault(key, len(self._node_of))
        return node

    def table(self) -> Table:
        """Every node (schema.STACK_NODES)."""
        rows = np.array(list(self._node_of), np.int64).reshape(-1, 4).T
        return Table(STACK_NODES, dict(zip(("parent", "sampled_file", "function", "line"), rows, strict=True)))

    def _file(self, filename: str) -> int:
        row = self._file_of.get(filename)
        if row is None:
            row = self._file_of[filename] = len(self.files)
            self.files.append(_described(filename, self._cell))
        return row

    def _function(self, name: str) -> int:
        row = self._function_of.get(name)
        if row is None:
            row = self._function_of[name] = len(self.functions)
            self.functions.append(name)
        return row


def _described(filename: str, cell_filename: str) -> SampledFile:
    """Library files are named from their package on: `torch/nn/modules/linear.py`."""
    if is_users(filename, cell_filename):
        return SampledFile(filename=filename, kind="notebook")
    for folder in _library_folders(tuple(sys.path)):
        if filename.startswith(folder):
            return SampledFile(filename=filename[len(folder) :].lstrip("/\\"), kind="library")
    if filename.startswith("<") or not filename:
        return SampledFile(filename=filename, kind="library")
    return SampledFile(filename=filename, kind="module")


def is_library(filename: str) -> bool:
    """Whether that file is neither of the notebook nor a module of the user's own."""
    return _described(filename, "").kind == "library"


@functools.lru_cache(maxsize=8)
def _library_folders(searched: tuple[str, ...]) -> tuple[str, ...]:
    """Longest first: site-packages lie inside the standard library's folder. Of those that are `searched` for modules,
    the ones that pip has filled (`pip install --target`)."""
    paths = sysconfig.get_paths()
    folders = {paths[each] for each in ("purelib", "platlib", "stdlib", "platstdlib", "scripts")}
    folders |= {str(Path(paths["stdlib"]).resolve()), *site.getsitepackages(), site.getusersitepackages()}
    folders |= {each for each in searched if each and any(Path(each).glob("*.dist-info"))}
    return tuple(sorted(folders, key=len, reverse=True))
