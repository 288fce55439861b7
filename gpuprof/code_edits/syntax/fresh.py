"""Expressions whose result shares no memory with what they read, by the text."""

from __future__ import annotations

import ast

from gpuprof.code_edits.syntax.cell_modules import CellModules, Runs
from gpuprof.code_edits.syntax.cell_text import CellText
from gpuprof.code_edits.syntax.pure_names import METHODS, VIEWS, is_pure

_RANDOM = ("torch.rand", "numpy.random.", "torch.normal", "torch.empty")


class Fresh:
    """Of one cell; what its own functions and modules return is followed."""

    def __init__(self, text: CellText, modules: CellModules):
        self._text, self._modules = text, modules
        self._returns: dict[ast.FunctionDef, bool] = {}

    def is_fresh(self, node: ast.expr) -> bool:
        """Whether it makes something of its own."""
        if isinstance(node, ast.Constant | ast.Compare | ast.UnaryOp | ast.JoinedStr):
            return True
        if isinstance(node, ast.BinOp):
            return not any(map(_may_list, ast.walk(node)))
        if isinstance(node, ast.List | ast.Set | ast.Tuple):
            return all(isinstance(each, ast.Constant) or self.is_fresh(each) for each in node.elts)
        if isinstance(node, ast.Dict):
            return all(isinstance(each, ast.Constant) for each in (*node.keys, *node.values))
        if isinstance(node, ast.ListComp):
            return self.is_fresh(node.elt)
        return isinstance(node, ast.Call) and self._gives_fresh(node)

    def _gives_fresh(self, call: ast.Call) -> bool:
        own = self._modules.function(call)
        if own is not None:
            return self._returns_fresh(own)
        runs: Runs | None = self._modules.called(call)
        if runs is not None:
            return bool(runs) and all(each is None or self._returns_fresh(each) for each in runs)
        full = self._text.full_name(call.func)
        name = call.func.attr if isinstance(call.func, ast.Attribute) else full.rpartition(".")[2] if full else ""
        if full is not None:
            made = full == "copy.deepcopy" or full.startswith(_RANDOM) or is_pure(full)
            return made and name not in VIEWS and not full.startswith("torch.distributions.")
        return isinstance(call.func, ast.Attribute) and name in METHODS and name not in VIEWS | self._modules.methods

    def _returns_fresh(self, function: ast.FunctionDef) -> bool:
        if function not in self._returns:
            self._returns[function] = False
            returned = [each.value for each in ast.walk(function) if isinstance(each, ast.Return) and each.value]
            self._returns[function] = all(self._is_fresh_in(each, function) for each in returned)
        return self._returns[function]

    def _is_fresh_in(self, node: ast.expr, function: ast.FunctionDef) -> bool:
        if isinstance(node, ast.Tuple):
            return all(self._is_fresh_in(each, function) for each in node.elts)
        if not isinstance(node, ast.Name):
            return self.is_fresh(node)
        variable = self._text.variable(node)
        value = self._text.value_of(variable)
        # something may be put into a list later
        holds = isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp)
        return variable.scope is function and value is not None and not holds and self.is_fresh(value)


def _may_list(node: ast.AST) -> bool:
    """A sum of lists has their elements."""
    if isinstance(node, ast.List | ast.Tuple):
        return not all(isinstance(each, ast.Constant) for each in node.elts)
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.ListComp)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("list", "tuple", "sorted", "parameters")
