"""Expressions that give the same from the same, and change nothing, by the text alone: a strict reading."""

from __future__ import annotations

import ast
import builtins

from gpuprof.code_edits.syntax.cell_modules import CellModules
from gpuprof.code_edits.syntax.cell_text import CellText, Comprehension, Variable
from gpuprof.code_edits.syntax.fresh import Fresh
from gpuprof.code_edits.syntax.pure_names import BUILTINS, METHODS, MOVED, is_pure, words

_PLAIN = (ast.Constant, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)
_PARTS = (
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.Dict,
    ast.IfExp,
    ast.List,
    ast.Set,
    ast.Slice,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
)
# what a backward pass, `.train()` and `.eval()` change
_VARYING = frozenset({"grad", "training", "requires_grad"})
_WRITES = frozenset({"out", "inplace", "overwrite_a", "overwrite_b", "generator", "max_norm"})
_LISTS = words("named_parameters parameters named_modules modules items values keys split chunk unbind tolist")
_GOES_OVER = ("range", "enumerate", "zip", "reversed")
_RANDOM = ("normal_", "uniform_", "random_", "bernoulli_", "exponential_", "geometric_", "cauchy_", "log_normal_")
_STATEMENTS = (ast.Pass, ast.Continue, ast.Break, ast.Assert)
_FILLS = ("append", "extend", "insert")


class Steady:
    """Of one cell: its own functions, and modules that it makes, are followed."""

    def __init__(self, text: CellText, varying: frozenset[str] = _VARYING):
        self.text, self._varying = text, varying
        self.modules = CellModules(text)
        self.fresh = Fresh(text, self.modules)
        self._calls: dict[ast.Call, bool] = {}
        self._known: dict[ast.FunctionDef, bool] = {}
        self._reads: dict[ast.FunctionDef, set[Variable]] = {}

    def is_steady(self, node: ast.AST | None) -> bool:
        """Whether it gives the same each time from what it reads, and nothing else changes by it."""
        if node is None or isinstance(node, (*_PLAIN, ast.Name)):
            return True
        if isinstance(node, ast.Attribute):
            return node.attr not in self._varying | self.modules.methods and self.is_steady(node.value)
        if isinstance(node, _PARTS):
            return all(map(self.is_steady, ast.iter_child_nodes(node)))
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
            return self._is_steady_comprehension(node)
        return isinstance(node, ast.Call) and self.knows(node) and all(map(self.is_steady, self._given(node)))

    def knows(self, call: ast.Call) -> bool:
        """Whether what it calls is known to give the same each time; what it is given is not looked at."""
        if call not in self._calls:
            self._calls[call] = self._knows(call)
        return self._calls[call]

    def _knows(self, call: ast.Call) -> bool:
        if any(each.arg in _WRITES or each.arg is None for each in call.keywords):
            return False
        if any(isinstance(each, ast.Starred) for each in call.args):
            return False
        if (function := self.modules.function(call)) is not None:
            return self.is_steady_function(function)
        if (found := self.modules.called(call)) is not None:
            return all(each is None or self.is_steady_function(each) for each in found)
        full = self.text.full_name(call.func)
        if full is not None:
            return is_pure(full) or full == "copy.deepcopy"
        if isinstance(call.func, ast.Name):
            return call.func.id in BUILTINS and not self.text.is_bound(self.text.variable(call.func))
        if not isinstance(call.func, ast.Attribute) or call.func.attr in self.modules.methods:
            return False
        # of a model `.to()` and `.float()` change the model itself
        moves = call.func.attr in MOVED and self.modules.is_called(call.func.value)
        return call.func.attr in METHODS and not moves

    def is_steady_function(self, function: ast.FunctionDef) -> bool:
        """Whether a function of the cell only computes its result, and is the only one of its name."""
        if function not in self._known:
            self._known[function] = False  # one that calls itself is not followed
            decorated = (self.text.full_name(_called(each)) for each in function.decorator_list)
            plain = all(each in ("torch.no_grad", "torch.inference_mode") for each in decorated)
            body = _FunctionBody(self, function)
            self._known[function] = plain and all(map(body.allows, function.body))
        return self._known[function]

    def reads(self, node: ast.AST) -> set[Variable]:
        """The variables that it reads, also in the cell's functions and modules; not those of its comprehensions."""
        found = set[Variable]()
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and not self._is_given(each):
                found.add(self.text.variable(each))
            if isinstance(each, ast.Call):
                for function in self._runs(each):
                    found |= self.reads_of(function)
        return {
            each for each in found if not isinstance(each.scope, Comprehension) or not self.text.holds(node, each.scope)
        }

    def _is_given(self, name: ast.Name) -> bool:
        """Whether it is a library, or comes with Python."""
        unbound = not self.text.is_bound(self.text.variable(name))
        return self.text.full_name(name) is not None or (unbound and hasattr(builtins, name.id))

    def _runs(self, call: ast.Call) -> list[ast.FunctionDef]:
        own = self.modules.function(call)
        if own is not None:
            return [own]
        return [each for each in self.modules.called(call) or () if each is not None]

    def reads_of(self, function: ast.FunctionDef) -> set[Variable]:
        """The variables from outside that a function of the cell reads."""
        if function not in self._reads:
            self._reads[function] = set()
            found = {each for part in function.body for each in self.reads(part)}
            self._reads[function] = {each for each in found if not self.text.holds(function, each.scope)}
        return self._reads[function]

    def _given(self, call: ast.Call) -> list[ast.AST]:
        receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        return [*receiver, *call.args, *(each.value for each in call.keywords)]

    def _is_steady_comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> bool:
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        tests = [test for each in node.generators for test in each.ifs]
        return all(self.goes_over_the_same(each.iter) for each in node.generators) and all(
            map(self.is_steady, (*parts, *tests))
        )

    def goes_over_the_same(self, node: ast.expr) -> bool:
        """Whether it gives the same each time one goes over it: no iterator that is used up, no loader."""
        if isinstance(node, ast.List | ast.Tuple):
            return self.is_steady(node)
        if isinstance(node, ast.Name):
            made = self.text.value_of(self.text.variable(node))
            return made is not None and (isinstance(made, ast.List | ast.Tuple | ast.ListComp) or self._lists(made))
        if isinstance(node, ast.Attribute):
            return bool(self.modules.parts(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _GOES_OVER:
            over = self.is_steady if node.func.id == "range" else self.goes_over_the_same
            return not node.keywords and all(map(over, node.args))
        return self._lists(node) and self.is_steady(node.func.value)  # type: ignore[attr-defined]

    def _lists(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _LISTS
            and node.func.attr not in self.modules.methods
        )


class _FunctionBody:
    """The statements of a function that may change what it made itself, and nothing else."""

    def __init__(self, steady: Steady, function: ast.FunctionDef):
        self._steady, self._text = steady, steady.text
        self._given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        self._made: dict[str, bool] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    self._note(target, node.value)
            elif isinstance(node, ast.For | ast.comprehension):
                self._note(node.target, None)

    def _note(self, target: ast.expr, value: ast.expr | None) -> None:
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                fresh = target is each and value is not None and self._steady.fresh.is_fresh(value)
                self._made[each.id] = self._made.get(each.id, each.id not in self._given) and fresh

    def allows(self, node: ast.stmt) -> bool:
        """Whether this statement, with all in it, has no effect outside."""
        steady = self._steady.is_steady
        if isinstance(node, _STATEMENTS):
            return not isinstance(node, ast.Assert) or steady(node.test)
        if isinstance(node, ast.Return):
            return steady(node.value)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            changes = isinstance(node, ast.AugAssign)
            return steady(node.value) and all(self._may_give(each, changes) for each in targets)
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Constant) or self._fills(node.value)
        if isinstance(node, ast.If | ast.While):
            return steady(node.test) and all(map(self.allows, (*node.body, *node.orelse)))
        if isinstance(node, ast.For):
            inner = all(map(self.allows, (*node.body, *node.orelse)))
            return inner and self._may_give(node.target, False) and self._steady.goes_over_the_same(node.iter)
        if isinstance(node, ast.With):
            managers = [self._text.full_name(_called(each.context_expr)) for each in node.items]
            known = all(each in ("torch.no_grad", "torch.inference_mode") for each in managers)
            return known and all(map(self.allows, node.body))
        return False

    def _may_give(self, target: ast.expr, changes: bool) -> bool:
        if isinstance(target, ast.Tuple | ast.List):
            return all(self._may_give(each, changes) for each in target.elts)
        if isinstance(target, ast.Name):
            return not changes or self._made.get(target.id, False)
        if not isinstance(target, ast.Subscript) or not self._steady.is_steady(target.slice):
            return False
        return isinstance(target.value, ast.Name) and self._made.get(target.value.id, False)

    def _fills(self, node: ast.expr) -> bool:
        """`rows.append(x)`, `x.add_(1)` of what was made here."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        name, inner = node.func.attr, node.func.value
        known = name in _FILLS or (name.endswith("_") and not name.endswith("__") and name not in _RANDOM)
        mine = isinstance(inner, ast.Name) and self._made.get(inner.id, False)
        given = (*node.args, *(each.value for each in node.keywords))
        return known and mine and name not in self._steady.modules.methods and all(map(self._steady.is_steady, given))


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node
