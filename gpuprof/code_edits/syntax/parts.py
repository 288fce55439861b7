"""Parts of statements: which are worth a name of their own, and what becomes of what they give."""

from __future__ import annotations

import ast

from gpuprof.code_edits.syntax.cell_modules import root_of
from gpuprof.code_edits.syntax.pure_names import BUILTINS, VIEWS, words
from gpuprof.code_edits.syntax.reading import CellReading
from gpuprof.code_edits.syntax.shared_memory import PUTS

_FILLS = words("arange as_tensor empty eye full full_like linspace ones ones_like tensor zeros zeros_like")
_CHEAP = BUILTINS | VIEWS | _FILLS | words("device dim numel size stride")
_READERS = frozenset({"print", "float", "int", "len", "str", "bool", "display"})


def head(statement: ast.stmt) -> list[ast.AST]:
    """What a statement itself computes, without the body of a compound one."""
    if isinstance(statement, ast.For):
        return [statement.iter]
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return):
        return [statement.value] if statement.value is not None else []
    return []


def is_worth_it(node: ast.expr) -> bool:
    """Whether it calls more than what takes no time, or multiplies matrices."""
    for each in ast.walk(node):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.MatMult):
            return True
        if isinstance(each, ast.Call) and called(each) not in _CHEAP:
            return True
    return False


def is_conditional(node: ast.AST, child: ast.AST) -> bool:
    """Whether a part of an expression is only computed where another one asks for it."""
    if isinstance(node, ast.IfExp):
        return child is not node.test
    return isinstance(node, ast.BoolOp) and child is not node.values[0]


def stays(reading: CellReading, part: ast.expr) -> bool:
    """Whether whoever gets what it gives leaves it as it is, so that one object may stand for many."""
    held = False
    for outer in reading.text.around(part):
        if isinstance(outer, ast.stmt):
            return _stays_in(reading, outer) and not (held and isinstance(outer, ast.AugAssign))
        held = held or isinstance(outer, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp)
        if isinstance(outer, ast.Call) and not reading.steady.knows(outer):
            name, root = called(outer), root_of(outer.func)
            if name in PUTS and root is not None and isinstance(outer.func, ast.Attribute):
                return not reading.changing.inside({reading.text.variable(root)}, reading.ever)
            return name in _READERS and isinstance(outer.func, ast.Name)
        if isinstance(outer, ast.expr) and reading.steady.fresh.is_fresh(outer):
            return not isinstance(outer, ast.List | ast.Tuple | ast.ListComp)
        if isinstance(outer, ast.JoinedStr):
            return True
    return False


def _stays_in(reading: CellReading, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        targets = [reading.names_of(each) for each in statement.targets]
        given = {each for names in targets for each in names or ()}
        return None not in targets and not reading.changing.inside(given, reading.ever)
    return isinstance(statement, ast.AugAssign | ast.Expr | ast.If | ast.While | ast.Assert)


def function_of(node: ast.expr) -> ast.expr:
    """What a call calls; anything else itself."""
    return node.func if isinstance(node, ast.Call) else node


def called(node: ast.expr) -> str:
    """`inv` of `torch.linalg.inv(K)`: what the first call in it is named."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            name = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            if name:
                return str(name)
    return "product"
