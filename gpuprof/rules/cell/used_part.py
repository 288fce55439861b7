"""How much of what a call gives is used, by the text: its first few places, or all."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import Enum

from gpuprof.analyses.containers.written_numbers import given, whole_number
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted

_FEW = 1000
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_HEADS = ("head", "tail")


class Usage(Enum):
    """What is read of a result."""

    NONE = "none"
    FEW = "few"
    ALL = "all"


def uses_few(source: str, nodes: Sequence[ast.AST], call: ast.Call) -> bool:
    """Whether only the first or last few places of a call's result are read: there, or wherever the name that it is
    given to is read. `nodes`: of the statement; they have to be those of `parsed(source)`."""
    tree = parsed(source)
    if tree is None:
        return False
    if any(_takes_few(tree, each, call) for each in nodes):
        return True
    statement = next((each for each in nodes if isinstance(each, ast.Assign)), None)
    if statement is None or len(statement.targets) != 1 or _past_reversal(statement.value) is not call:
        return False
    return _usage(tree, statement, statement.targets[0]) is Usage.FEW


def few_are_read(source: str, shuffles: ast.Call) -> bool:
    """Whether all else that reads what the call is given, its first argument, takes its first or last few places."""
    tree, name = parsed(source), dotted(shuffles.args[0]) if shuffles.args else ""
    if tree is None or not name:
        return False
    inside = {id(each) for each in ast.walk(shuffles)}
    around = list(ast.walk(_function_of(tree, shuffles)))
    few = {id(_name_below(each)) for each in around if _takes_few(tree, each, None)}
    reads = [
        each
        for each in around
        if isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Load) and dotted(each) == name
    ]
    others = [each for each in reads if id(each) not in inside]
    return bool(others) and all(id(each) in few for each in others)


def usages(source: str, statement: ast.Assign) -> list[Usage]:
    """How much is read of each name that a statement of `parsed(source)` gives a value to: `u, s, vt = svd(x)`."""
    tree, target = parsed(source), statement.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return [_usage(tree, statement, each) for each in parts] if tree is not None else []


def _usage(tree: ast.Module, statement: ast.Assign, name: ast.expr) -> Usage:
    """As far as the function goes, or outside of any the text."""
    if not isinstance(name, ast.Name):
        return Usage.ALL
    around = list(ast.walk(_function_of(tree, statement)))
    reads = [each for each in around if isinstance(each, ast.Name) and each.id == name.id]
    few = {id(_name_below(each)) for each in around if _takes_few(tree, each, None)}
    loads = [each for each in reads if isinstance(each.ctx, ast.Load)]
    if not loads:
        return Usage.NONE
    one_value = len(reads) - len(loads) == 1
    return Usage.FEW if one_value and all(id(each) in few for each in loads) else Usage.ALL


def is_few(tree: ast.AST, node: ast.expr) -> bool:
    """Whether it is a small number: one of the text, or a plain name that is not made of a length."""
    number = whole_number(tree, node)
    if number is not None:
        return abs(number) <= _FEW
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not dotted(node):
        return False
    made = given(tree, dotted(node))
    return not any(isinstance(each, ast.Call | ast.BinOp | ast.Subscript | ast.Attribute) for each in made)


def _function_of(tree: ast.Module, statement: ast.stmt | ast.Call) -> ast.AST:
    around = [each for each in ast.walk(tree) if isinstance(each, _Function)]
    around = [each for each in around if each.lineno <= statement.lineno <= (each.end_lineno or each.lineno)]
    return max(around, key=lambda each: each.lineno, default=tree)


def _takes_few(tree: ast.AST, node: ast.AST, call: ast.Call | None) -> bool:
    """`x[:k]`, `x[-k:]`, `x[::-1][:k]`, `x[:, :k]`, `x.head(k)`, of that call; of any name for None."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _HEADS:
        few = all(is_few(tree, each) for each in node.args)
        return few and _is_of(node.func.value, call)
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return False
    value: ast.expr = node.value
    if isinstance(value, ast.Attribute) and value.attr == "iloc":
        value = value.value
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    last = parts[-1]
    plain = all(isinstance(each, ast.Slice) or _is_ellipsis(each) for each in parts[:-1])
    return plain and _is_of(value, call) and _is_end(tree, last)


def _is_end(tree: ast.AST, part: ast.expr) -> bool:
    if not isinstance(part, ast.Slice):
        return whole_number(tree, part) in (0, -1)
    if part.lower is None and part.upper is not None:
        return is_few(tree, part.upper) and not _is_negative(part.upper)
    backward = part.lower is not None and _is_negative(part.lower)
    return backward and part.upper is None and part.lower is not None and is_few(tree, part.lower)


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _is_of(value: ast.expr, call: ast.Call | None) -> bool:
    below = _past_reversal(value)
    return isinstance(below, ast.Name) if call is None else below is call


def _past_reversal(node: ast.expr) -> ast.expr:
    """`x` of `x[::-1]` and of `x[:, ::-1]`."""
    while isinstance(node, ast.Subscript):
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        whole = all(isinstance(each, ast.Slice) and each.lower is None and each.upper is None for each in parts)
        if not whole:
            return node
        node = node.value
    return node


def _name_below(node: ast.AST) -> ast.AST:
    value = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    value = value.value if isinstance(value, ast.Subscript) else value
    value = value.value if isinstance(value, ast.Attribute) and value.attr == "iloc" else value
    return _past_reversal(value) if isinstance(value, ast.expr) else value


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
