"""From a line that the run knows to the call in the same cell that made what the line uses."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree

_MOST_HOPS = 6
# they give what they iterate, one by one
_WRAPPERS = ("enumerate", "islice", "iter", "tqdm", "track")
Expressions = list[cst.BaseExpression]


def creation(tree: CellTree, line: int, classes: Sequence[str], modules: Sequence[str]) -> cst.Call | None:
    """The one call of a class of that name whose result the statement at `line` uses.

    The class is one of `classes`; where the cell imports it, from one of `modules`. None where several calls could
    have made it, where none of this cell did, or where the class is one of the user's own.
    """
    found: list[cst.Call] = []
    for used in _used_at(tree, line):
        values = [used] if isinstance(used, cst.Call) else values_of(tree, used)
        makes = [value for value in values if isinstance(value, cst.Call) and _is_of(tree, value, classes, modules)]
        if makes and len(values) != 1:
            return None
        found += [each for each in makes if each not in found]
    return found[0] if len(found) == 1 else None


def values_of(tree: CellTree, used: cst.CSTNode, hops: int = _MOST_HOPS) -> Expressions:
    """What a name or attribute may have been given in this cell, through the parameters of the cell's functions.

    Empty where it comes from elsewhere, or is bound in a way that cannot be followed.
    """
    if hops == 0:
        return []
    if isinstance(used, cst.Attribute):
        return _values_of_attribute(tree, used, hops - 1)
    if not isinstance(used, cst.Name) or tree.scope(used) is None:
        return []
    values: Expressions = []
    for assignment in tree.scope(used)[used.value]:
        node = getattr(assignment, "node", None)
        if isinstance(node, cst.Param):
            given = _values_of_parameter(tree, node, hops - 1)
        elif isinstance(node, cst.Name):
            given = assigned(tree, node)
        else:
            given = []
        if not given:
            return []
        values += given
    return [inner for value in values for inner in _unwrapped(tree, value, hops - 1)]


def _unwrapped(tree: CellTree, value: cst.BaseExpression, hops: int) -> Expressions:
    """What a progress bar or `enumerate` iterates; any other value itself."""
    if not (isinstance(value, cst.Call) and value.args and _last_name(value.func) in _WRAPPERS):
        return [value]
    inner = value.args[0].value
    if value.args[0].star or value.args[0].keyword is not None:
        return []
    return values_of(tree, inner, hops) if _is_name(inner) else _unwrapped(tree, inner, hops)


def _last_name(node: cst.CSTNode) -> str:
    last = node.attr if isinstance(node, cst.Attribute) else node
    return last.value if isinstance(last, cst.Name) else ""


def assigned(tree: CellTree, name: cst.Name) -> Expressions:
    """`x` in `x = value`, `x: T = value`, or `x, y = value, other`; nothing where it is bound otherwise."""
    outer = tree.parent(name)
    if isinstance(outer, cst.AssignTarget):
        assign = tree.parent(outer)
        return [assign.value] if isinstance(assign, cst.Assign) else []
    if isinstance(outer, cst.AnnAssign) and outer.value is not None:
        return [outer.value]
    targets = tree.parent(outer) if isinstance(outer, cst.Element) else None
    target = tree.parent(targets) if isinstance(targets, cst.Tuple) else None
    assign = tree.parent(target) if isinstance(target, cst.AssignTarget) else None
    if isinstance(targets, cst.Tuple) and isinstance(assign, cst.Assign) and isinstance(assign.value, cst.Tuple):
        given = assign.value.elements
        if len(given) == len(targets.elements) and isinstance(outer, cst.Element):
            return [given[list(targets.elements).index(outer)].value]
    return []


def _used_at(tree: CellTree, line: int) -> list[cst.CSTNode]:
    """Names, attributes and calls in the statement at that line, but for the bodies of a compound one."""
    whole = m.SimpleStatementLine() | m.For() | m.If() | m.While() | m.With()
    statements = [each for each in tree.all(whole) if line in tree.lines(each)]
    if not statements:
        return []
    statement = max(statements, key=lambda each: (tree.place(each), -len(tree.lines(each))))
    parts: list[cst.CSTNode] = [statement]
    if isinstance(statement, cst.For):
        parts = [statement.iter]
    elif isinstance(statement, cst.If | cst.While):
        parts = [statement.test]
    elif isinstance(statement, cst.With):
        parts = list(statement.items)
    found = [node for part in parts for node in tree.all(m.Name() | m.Attribute() | m.Call(), part)]
    return [node for node in found if _is_loaded(tree, node)]


def _is_loaded(tree: CellTree, node: cst.CSTNode) -> bool:
    outer = tree.parent(node)
    if isinstance(outer, cst.Attribute):
        return outer.value is node
    return not isinstance(outer, cst.AssignTarget | cst.Param) and not (
        isinstance(outer, cst.Arg) and outer.keyword is node
    )


def _is_of(tree: CellTree, call: cst.Call, classes: Sequence[str], modules: Sequence[str]) -> bool:
    imported = tree.imported_as(call.func)
    if imported is not None:
        module, _, name = imported.rpartition(".")
        return name in classes and any(module == each or module.startswith(f"{each}.") for each in modules)
    if isinstance(call.func, cst.Name):
        scope = tree.scope(call.func)
        # bound in this cell by something other than an import: the user's own
        return call.func.value in classes and not (scope is not None and list(scope[call.func.value]))
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in classes


def _values_of_attribute(tree: CellTree, used: cst.Attribute, hops: int) -> Expressions:
    """`self.loader`, where the cell assigns an attribute of that text exactly once."""
    text = tree.code(used)
    targets = [each for each in tree.all(m.AssignTarget(m.Attribute())) if tree.code(each.target) == text]
    assign = tree.parent(targets[0]) if len(targets) == 1 else None
    if not isinstance(assign, cst.Assign):
        return []
    return values_of(tree, assign.value, hops) if _is_name(assign.value) else [assign.value]


def _values_of_parameter(tree: CellTree, parameter: cst.Param, hops: int) -> Expressions:
    """What the calls in this cell give to a parameter of one of its functions, if every one of them is plain.

    The calls of a class are those of its `__init__`; other methods are not followed.
    """
    function = tree.nearest(parameter, cst.FunctionDef)
    home = tree.function(function) if function is not None else None
    if function is None or (isinstance(home, cst.ClassDef) and function.name.value != "__init__"):
        return []
    called: cst.CSTNode = home.name if isinstance(home, cst.ClassDef) else function.name
    names = [each.name.value for each in function.params.params][isinstance(home, cst.ClassDef) :]
    if parameter.name.value not in names or isinstance(home, cst.Lambda):
        return []
    position, values = names.index(parameter.name.value), list[cst.BaseExpression]()
    for name in tree.names():
        if name.value != tree.code(called) or name is called:
            continue
        call = tree.parent(name)
        if not isinstance(call, cst.Call) or call.func is not name or any(arg.star for arg in call.args):
            return []
        given = [arg.value for arg in call.args if arg.keyword and arg.keyword.value == parameter.name.value]
        given = given or [arg.value for arg in call.args if arg.keyword is None][position : position + 1]
        resolved = [v for each in given for v in (values_of(tree, each, hops) if _is_name(each) else [each])]
        if not resolved:
            return []
        values += [value for value in resolved if value not in values]
    return values


def _is_name(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name | cst.Attribute)
