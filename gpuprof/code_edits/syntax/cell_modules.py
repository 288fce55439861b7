"""The functions and modules of a cell that a call in it runs, as far as its text says which."""

from __future__ import annotations

import ast

from gpuprof.code_edits.syntax.cell_text import CellText, Variable
from gpuprof.code_edits.syntax.pure_names import HOLDERS, MODULES, MOVED, SHAPING

Runs = tuple[ast.FunctionDef | None, ...]
"""What a module's call runs: the cell's own functions; None for a module of torch that keeps no state and computes,
nothing for one that only gives another shape."""

_SHARES = frozenset({"dropout", "inplace", "max_norm"})
_DEEPEST = 8


class CellModules:
    """Of one cell. What a subclass may replace, a hook may follow, or an assignment may exchange, is not known."""

    def __init__(self, text: CellText):
        self._text = text
        self._runs: dict[ast.Call, Runs | None] = {}
        classes = [each for each in text.nodes if isinstance(each, ast.ClassDef)]
        inside = [part for each in classes for part in each.body if isinstance(part, ast.FunctionDef)]
        self.methods = frozenset(each.name for each in inside)
        self._derived = {each.id for one in classes for base in one.bases for each in text.names(base)}
        stored = [each for each in text.nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)]
        self._exchanged = {text.variable(root) for each in stored if (root := root_of(each)) and root.id != "self"}
        self._attributes = [each for each in stored if isinstance(each.value, ast.Name) and each.value.id == "self"]
        calls = [each for each in text.nodes if isinstance(each, ast.Call)]
        names = [each.func.attr for each in calls if isinstance(each.func, ast.Attribute)]
        self._hooked = any("hook" in each or each == "apply" for each in names)
        self._called = {text.variable(root) for each in calls if (root := _whole_name(each.func))}

    def function(self, call: ast.Call) -> ast.FunctionDef | None:
        """The cell's own function that is called by its name, or as `self.name` in its class."""
        if isinstance(call.func, ast.Name):
            variable = self._text.variable(call.func)
            found = self._text.definition(variable) if variable.scope is self._text.tree else None
            return found if isinstance(found, ast.FunctionDef) else None
        home = self._class_of_self(call.func.value) if isinstance(call.func, ast.Attribute) else None
        return self._method(home, call.func.attr) if home and isinstance(call.func, ast.Attribute) else None

    def called(self, call: ast.Call) -> Runs | None:
        """What the call of a module runs; None where it is not known to be one."""
        if call not in self._runs:
            self._runs[call] = None if self._hooked else self._of(call.func, _DEEPEST)
        return self._runs[call]

    def parts(self, node: ast.expr) -> Runs:
        """What the modules run that are in a list of them (`self.layers`); empty where that is not known."""
        found = None if self._hooked else self._of(node, _DEEPEST)
        return found or ()

    def of_made(self, value: ast.expr) -> Runs | None:
        """What a module runs that was made like this (`Net()`); None where it is not known to be one."""
        return None if self._hooked else self._made(value, _DEEPEST)

    def is_called(self, node: ast.expr) -> bool:
        """Whether the cell calls what this name stands for, as models are."""
        root = _whole_name(node)
        return root is not None and self._text.variable(root) in self._called

    def _of(self, node: ast.expr, depth: int) -> Runs | None:
        if depth == 0:
            return None
        if isinstance(node, ast.Name):
            return self._of_variable(self._text.variable(node), depth - 1)
        if isinstance(node, ast.Subscript):
            return self._of(node.value, depth - 1)
        if isinstance(node, ast.Attribute):
            home = self._class_of_self(node.value)
            value = self._attribute(home, node.attr) if home is not None else None
            return self._made(value, depth - 1) if value is not None else None
        return None

    def _of_variable(self, variable: Variable, depth: int) -> Runs | None:
        if variable in self._exchanged:
            return None
        value = self._text.value_of(variable)
        if value is not None:
            return self._made(value, depth)
        stored = [each for each in self._text.mentions(variable) if not isinstance(each.ctx, ast.Load)]
        outer = self._text.parent(stored[0]) if len(stored) == 1 else None
        if isinstance(outer, ast.For | ast.comprehension) and outer.target is stored[0]:
            return self._of(outer.iter, depth) if isinstance(outer.iter, ast.Attribute | ast.Name) else None
        given = self._text.given(variable) if not stored else None
        found = [self._made(each, depth) for each in given or ()]
        return tuple(part for each in found for part in each or ()) if found and None not in found else None

    def _made(self, value: ast.expr, depth: int) -> Runs | None:
        """What a module runs that was made like this."""
        if depth == 0:
            return None
        if isinstance(value, ast.Name):
            return self._of_variable(self._text.variable(value), depth - 1)
        if isinstance(value, ast.Starred):
            return self._made(value.value, depth - 1)
        if isinstance(value, ast.ListComp | ast.GeneratorExp):
            return self._made(value.elt, depth - 1)
        if isinstance(value, ast.List | ast.Tuple):
            return self._all(value.elts, depth)
        if not isinstance(value, ast.Call):
            return None
        if isinstance(value.func, ast.Attribute) and value.func.attr in MOVED:
            return self._made(value.func.value, depth - 1)
        full = self._text.full_name(value.func)
        if full == "copy.deepcopy" and len(value.args) == 1:
            return self._made(value.args[0], depth - 1)
        if full is not None and full.startswith("torch.nn."):
            name = full.removeprefix("torch.nn.")
            if name in HOLDERS:
                return self._all(value.args, depth)
            if name not in MODULES or _keeps(value):
                return None
            return () if name in SHAPING else (None,)
        own = self._text.definition(self._text.variable(value.func)) if isinstance(value.func, ast.Name) else None
        forward = self._method(own, "forward") if isinstance(own, ast.ClassDef) else None
        return (forward,) if forward is not None else None

    def _all(self, values: list[ast.expr], depth: int) -> Runs | None:
        found = [self._made(each, depth - 1) for each in values]
        return tuple(part for each in found for part in each or ()) if found and None not in found else None

    def _class_of_self(self, node: ast.expr) -> ast.ClassDef | None:
        if not isinstance(node, ast.Name) or node.id != "self":
            return None
        function = self._text.variable(node).scope
        home = self._text.parent(function) if isinstance(function, ast.FunctionDef) else None
        return home if isinstance(home, ast.ClassDef) else None

    def _method(self, home: ast.ClassDef, name: str) -> ast.FunctionDef | None:
        found = [each for each in home.body if isinstance(each, ast.FunctionDef) and each.name == name]
        own = {each.name for each in home.body if isinstance(each, ast.FunctionDef)}
        whole = home.name not in self._derived and not own & {"__call__", "__getattr__", "__getattribute__"}
        known = all(self._text.full_name(each) == "torch.nn.Module" for each in home.bases) and not home.keywords
        return found[0] if len(found) == 1 and whole and known and not home.decorator_list else None

    def _attribute(self, home: ast.ClassDef, name: str) -> ast.expr | None:
        """What `self.name` is given in its class, once."""
        mine = [each for each in self._attributes if each.attr == name and self._class_of_self(each.value) is home]
        return self._text.given_at(mine[0]) if len(mine) == 1 else None


def root_of(node: ast.AST) -> ast.Name | None:
    """`x` of `x.y[0].z()`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node if isinstance(node, ast.Name) else None


def _whole_name(node: ast.AST) -> ast.Name | None:
    return node if isinstance(node, ast.Name) else None


def _keeps(call: ast.Call) -> bool:
    """Whether it is made with something that is random, or changes what it is given."""
    kept = [each for each in call.keywords if each.arg in _SHARES or each.arg is None]
    return any(
        not isinstance(each.value, ast.Constant) or each.value.value not in (0, 0.0, False, None) for each in kept
    )
