"""Edits of how a DataLoader is made, alone and together with the copies of its batches."""

from __future__ import annotations

import re

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.batches import batch_copies, without_blocking
from gpuprof.code_edits.syntax.keywords import is_open, literal, positional, with_keyword
from gpuprof.code_edits.syntax.origin import creation
from gpuprof.code_edits.syntax.tree import CellTree, Changes

# dataset, batch_size, shuffle, sampler, batch_sampler: the next would be num_workers
_MOST_POSITIONAL = 5
_STARTS_OTHERWISE = re.compile(r"multiprocessing_context|set_start_method")
_LOADERS = ("torch.utils.data",)


def set_loader(source: str, line: int, **arguments: str) -> str | None:
    """The DataLoader that the statement at `line` iterates, made with these arguments (Python text).

    None where it is not made in this cell, or is made anew in a loop (workers that outlive it would pile up), or where
    the cell chooses how processes start: then the workers may not see the classes of the notebook.
    """
    tree = CellTree.of(source)
    if "num_workers" in arguments and _STARTS_OTHERWISE.search(source):
        return None
    changes = _loader_changes(tree, line, arguments) if tree else None
    return tree.changed(changes) if tree and changes else None


def pin_batches(source: str, lines: list[int]) -> str | None:
    """The loaders iterated at these lines with `pin_memory=True`, and their batches copied with `non_blocking=True`.

    Both or nothing: one without the other cures little. None where a loader is not made in this cell, or no plain
    copy of its batches is found in the loop.
    """
    tree = CellTree.of(source)
    changes: Changes = {}
    for line in lines:
        made = _loader_changes(tree, line, {"pin_memory": "True"}) if tree else None
        loops = [each for each in tree.all(m.For()) if line in tree.lines(each.iter)] if tree else []
        copies = batch_copies(tree, loops[-1]) if tree and loops else []
        if made is None or not copies:
            return None
        changes |= made | without_blocking(copies)
    return tree.changed(changes) if tree else None


def copy_without_blocking(source: str, line: int) -> str | None:
    """The batches of the loop at `line` copied with `non_blocking=True`; for loaders that pin their memory already."""
    tree = CellTree.of(source)
    loops = [each for each in tree.all(m.For()) if line in tree.lines(each.iter)] if tree else []
    return tree.changed(without_blocking(batch_copies(tree, loops[-1]))) if tree and loops else None


def set_for_workers(source: str, line: int, **arguments: str) -> str | None:
    """The same as `set_loader` with arguments that only workers understand (`prefetch_factor`, `persistent_workers`).

    None where the call does not say itself that there are workers.
    """
    tree = CellTree.of(source)
    call = made_once(tree, line) if tree else None
    workers = literal(tree, call, "num_workers") if tree and call else None
    if workers is None or not workers.isdecimal() or workers == "0":
        return None
    return set_loader(source, line, **arguments)


def made_once(tree: CellTree, line: int) -> cst.Call | None:
    """The call that makes the DataLoader which the statement at `line` iterates; None where that is not sure, or where
    it is made anew in a loop."""
    call = creation(tree, line, ("DataLoader",), _LOADERS)
    return None if call is None or _is_repeated(tree, call) else call


def _loader_changes(tree: CellTree, line: int, arguments: dict[str, str]) -> Changes | None:
    call = made_once(tree, line)
    if call is None or is_open(call) or positional(call) > _MOST_POSITIONAL:
        return None

    def change(made: cst.Call) -> cst.Call:
        for key, value in arguments.items():
            made = with_keyword(made, key, value)
        return made

    return {call: change}


def _is_repeated(tree: CellTree, call: cst.Call) -> bool:
    """Whether it stands in a loop, or in a function that this cell calls in one."""
    function = tree.function(call)
    if tree.loops(call):
        return True
    if not isinstance(function, cst.FunctionDef):
        return False
    return any(tree.loops(name) for name in tree.all(m.Name(function.name.value)))
