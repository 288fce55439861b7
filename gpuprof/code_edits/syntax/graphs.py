"""Whether what an expression gives may carry autograd's graph, which a second backward pass could not use again."""

from __future__ import annotations

import ast
import builtins
import re

from gpuprof.code_edits.syntax.cell_modules import root_of
from gpuprof.code_edits.syntax.cell_text import CellText, Comprehension, Variable
from gpuprof.code_edits.syntax.pure_names import METHODS
from gpuprof.code_edits.syntax.shared_memory import PUTS, SharedMemory
from gpuprof.code_edits.syntax.steady import Steady

_BACKWARD = re.compile(
    r"\bbackward\b|\bautograd\b|\bgrad\(|jacobian|hessian|functional_call|\b[jv][vh]p\(|LBFGS|\.fit\("
)
_WITHOUT = ("torch.no_grad", "torch.inference_mode")
_ENDS = frozenset({"detach", "item", "tolist", "numpy", "argmax", "argmin", "argsort", "size"})


class Graphs:
    """Of one cell."""

    def __init__(self, text: CellText, steady: Steady, memory: SharedMemory):
        self._text, self._steady, self._memory = text, steady, memory
        self._plain: dict[Variable, bool] = {}
        code = "\n".join(text.lines)
        calls = [each.func for each in text.nodes if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
        foreign = any(not text.is_bound(text.variable(each)) and not _is_builtin(each.id) for each in calls)
        self.never_backward = not _BACKWARD.search(code) and not foreign
        self._asked = {text.variable(root) for each in text.nodes if _asks(text, each) and (root := root_of(each))}

    def may_have_graph(self, node: ast.AST) -> bool:
        """Whether a backward pass may go through what this expression gives."""
        return not (self.never_backward or self.is_without(node) or self.is_plain(node))

    def is_without(self, node: ast.AST) -> bool:
        """Whether it stands in `with torch.no_grad():`, or in a function that is decorated so."""
        for each in self._text.around(node):
            if isinstance(each, ast.With) and any(self._says(item.context_expr) for item in each.items):
                return True
            if isinstance(each, ast.FunctionDef):
                return any(map(self._says, each.decorator_list))
        return False

    def _says(self, node: ast.expr) -> bool:
        return self._text.full_name(node.func if isinstance(node, ast.Call) else node) in _WITHOUT

    def is_plain(self, node: ast.AST) -> bool:
        """Whether nothing that it reads can ask for gradients."""
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and (node.func.attr in _ENDS or _frees(node)):
                return True
            if not self._is_plain_call(node):
                return False
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "dtype", "device", "data"):
            return True
        if isinstance(node, ast.Name):
            variable = self._text.variable(node)
            if isinstance(variable.scope, Comprehension) or self._text.full_name(node) is not None:
                return True
            return self._is_plain_variable(variable) or (_is_builtin(node.id) and not self._text.is_bound(variable))
        return all(map(self.is_plain, ast.iter_child_nodes(node)))

    def are_plain(self, variables: set[Variable]) -> bool:
        """Whether none of these can be something that an optimizer updates."""
        return all(map(self._is_plain_variable, variables))

    def _is_plain_call(self, call: ast.Call) -> bool:
        if any(each.arg == "requires_grad" or each.arg is None for each in call.keywords):
            return False
        full = self._text.full_name(call.func)
        if full is not None:
            return not re.match(r"torch\.(nn\.(?!functional)|optim|autograd)", full)
        if self._steady.modules.called(call) is not None:
            return False
        own = self._steady.modules.function(call)
        if own is not None:
            return not _mentions(own, "requires_grad") and self.are_plain(self._steady.reads_of(own))
        if isinstance(call.func, ast.Name):
            return _is_builtin(call.func.id) and not self._text.is_bound(self._text.variable(call.func))
        known = METHODS | {"split", "chunk", "items", "append", "copy", "astype", "reshape", "normal", "integers"}
        return isinstance(call.func, ast.Attribute) and call.func.attr in known

    def _is_plain_variable(self, variable: Variable) -> bool:
        if variable not in self._plain:
            self._plain[variable] = True
            self._plain[variable] = self._decide(variable)
        return self._plain[variable]

    def _decide(self, variable: Variable) -> bool:
        text = self._text
        if isinstance(variable.scope, Comprehension):
            return True
        named = Variable(variable.name, text.tree)
        definition = text.definition(variable)
        if isinstance(definition, ast.FunctionDef) or (variable == named and _imported(text, variable)):
            return True
        if self._memory.shares({variable}, self._asked):
            return False
        stored = [each for each in text.mentions(variable) if not isinstance(each.ctx, ast.Load)]
        given = self._text.given(variable)
        if (not stored and not given) or given is None:
            return False
        put = [part for each in text.mentions(variable) for part in self._put(each)]
        return all(map(self.is_plain, (*given, *put))) and all(map(self._is_plain_store, stored))

    def _put(self, name: ast.Name) -> list[ast.expr]:
        """What is put into it where it is mentioned: `x.append(y)`, `x[0] = y`, `x.copy_(y)`."""
        node: ast.AST = name
        outer = self._text.parent(node)
        while isinstance(outer, ast.Attribute | ast.Subscript) and outer.value is node:
            node, outer = outer, self._text.parent(outer)
        if isinstance(outer, ast.Call) and outer.func is node and isinstance(node, ast.Attribute):
            puts = node.attr in PUTS or node.attr.endswith("_")
            return [*outer.args, *(each.value for each in outer.keywords)] if puts else []
        stored = node is not name and not isinstance(getattr(node, "ctx", None), ast.Load)
        statement = self._text.statement(name)
        value = statement.value if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) else None
        return [value] if stored and value is not None else []

    def _is_plain_store(self, name: ast.Name) -> bool:
        for each in self._text.around(name):
            if isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign):
                own = self._text.value_of(self._text.variable(name))
                if own is not None:
                    return self.is_plain(own)
                return each.value is None or self.is_plain(each.value)
            if isinstance(each, ast.For):
                return self.is_plain(each.iter)
            if isinstance(each, ast.stmt):
                return False
        return False


def _imported(text: CellText, variable: Variable) -> bool:
    return text.full_name(ast.Name(variable.name, ast.Load())) is not None


def _is_builtin(name: str) -> bool:
    return hasattr(builtins, name)


def _mentions(node: ast.AST, text: str) -> bool:
    found = (each.attr if isinstance(each, ast.Attribute) else getattr(each, "arg", None) for each in ast.walk(node))
    return any(isinstance(each, str) and text in each for each in found)


def _frees(call: ast.Call) -> bool:
    """`.requires_grad_(False)`."""
    given = [*call.args, *(each.value for each in call.keywords)]
    off = len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is False
    return isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_" and off


def _asks(text: CellText, node: ast.AST) -> bool:
    """`x.requires_grad_()`, `x.requires_grad = True`."""
    if not isinstance(node, ast.Attribute) or node.attr not in ("requires_grad_", "requires_grad"):
        return False
    outer = text.parent(node)
    if isinstance(outer, ast.Call):
        return not _frees(outer)
    return not isinstance(node.ctx, ast.Load)
