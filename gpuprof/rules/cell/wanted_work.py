"""What the text says of work that looks repeated, and is wanted as it is, or has to be changed in another way."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.used_part import few_are_read, uses_few

_Loop = ast.For | ast.AsyncFor | ast.While
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_REDRAWS = ("cla", "clf", "clear", "clear_output", "set_data", "set_offsets", "set_ydata", "backward", "step")
_FITS = ("fit", "fit_transform", "cholesky", "cholesky_ex", "lstsq", "solve", "inv", "pinv", "eigh", "svd")
_STATES = ("state_dict", "parameters", "named_parameters")
_SHUFFLES = ("shuffle", "shuffle_")


def is_redrawn(source: str, lines: Collection[int]) -> bool:
    """Whether a loop around one of these lines clears what it draws, or trains beside it: pictures of which each shows
    something else are wanted, one by one."""
    loops = [loop for loop in _around(source, lines) if isinstance(loop, _Loop)]
    return any(_calls(loop, _REDRAWS) for loop in loops)


def is_stored_into(source: str, line: int, name: str) -> bool:
    """Whether the loop or function around that line writes to places of `name`: what is made of it before the loop is
    soon out of date."""
    return any(
        isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and dotted(node.value) == name
        for around in _around(source, [line])
        for node in ast.walk(around)
    )


def few_of_order(source: str, nodes: Sequence[ast.AST], name: str) -> bool:
    """Whether only the first few of what is shuffled are used: of the call's result, or of `name`, where it is shuffled
    in place."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = [dotted(each) for each in node.args[:1]]
            if node.func.attr in _SHUFFLES and given == [name]:
                return few_are_read(source, node)
            if given == [name]:
                return uses_few(source, nodes, node)
    return False


def writes_items(source: str, line: int, nodes: Sequence[ast.AST]) -> bool:
    """Whether each turn writes a file of its own that holds something else: its name depends on the loop, and what is
    written is no state of a model."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if any(_calls(each, _STATES) for each in calls):
        return False
    given = set[str]()
    for around in _around(source, [line]):
        given |= _counters(around)
    texts: list[ast.expr] = [
        node for each in calls for node in ast.walk(each) if isinstance(node, ast.JoinedStr | ast.BinOp)
    ]
    texts += [each for each in calls if dotted(each.func).rpartition(".")[2] in ("join", "format", "Path")]
    return any(isinstance(node, ast.Name) and node.id in given for text in texts for node in ast.walk(text))


def copies_state(nodes: Sequence[ast.AST], kind: str) -> bool:
    """Whether what is copied is a model, or the state of one: a shallow copy shares its tensors. `kind`: the class of
    what the call is given; empty where it is not known."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return kind.startswith("torch.") or any(_calls(each, ("state_dict",)) for each in calls)


def is_fitted_again(source: str, lines: Collection[int]) -> bool:
    """Whether one of these lines fits a model to what it reads, or decomposes a matrix of it: that takes all of it."""
    tree = parsed(source)
    return tree is not None and any(
        isinstance(node, ast.stmt) and not hasattr(node, "body") and node.lineno in lines and _calls(node, _FITS)
        for node in ast.walk(tree)
    )


def draws_without_replacement(nodes: Sequence[ast.AST]) -> bool:
    """Whether a call says `replace=False`."""
    said = (each for node in nodes if isinstance(node, ast.Call) for each in node.keywords if each.arg == "replace")
    return any(isinstance(each.value, ast.Constant) and each.value.value is False for each in said)


def _around(source: str, lines: Collection[int]) -> Iterator[_Loop | _Function]:
    """The loops and functions of the text that hold one of these lines."""
    tree = parsed(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, _Loop | _Function):
            last = max(each.end_lineno or each.lineno for each in node.body)
            if any(node.lineno <= line <= last for line in lines):
                yield node


def _counters(around: _Loop | _Function) -> set[str]:
    """The names that differ from turn to turn: a loop's own, a function's arguments."""
    if isinstance(around, _Function):
        return {each.arg for each in (*around.args.posonlyargs, *around.args.args, *around.args.kwonlyargs)}
    if isinstance(around, ast.While):
        return {dotted(node.target) for node in ast.walk(around) if isinstance(node, ast.AugAssign)}
    return {node.id for node in ast.walk(around.target) if isinstance(node, ast.Name)}


def _calls(node: ast.AST, names: Collection[str]) -> bool:
    return any(_last(each.func) in names for each in ast.walk(node) if isinstance(each, ast.Call))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
