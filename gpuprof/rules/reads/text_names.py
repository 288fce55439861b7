"""What a text gives its names, and which of these it changes in place: read once for all of its loops."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.repeatable import RepeatableReads, root
from gpuprof.rules.cell.unchanged_calls import mutated

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Loops = ast.For | ast.While | ast.AsyncFor
# weights change as they are trained; a loader or an iterator gives other batches
_CHANGES = re.compile(r"(^|\.)nn\.|Parameter|requires_grad|optim|Loader|^iter$|generator|rng|Generator|seed")
_DEEPEST = 4


class TextNames:
    """Of one text. `functions` by name, what it `imported`; `values` that it assigns to each name, `turns` what loops
    go over whose variable a name is; `times` that its own code, outside of functions, gives a name a value; `in_loops`:
    names that its own loops give one. `changed`: names whose objects its functions change in place."""

    def __init__(self, tree: ast.Module, known: RepeatableReads):
        self.tree, self.known = tree, known
        nodes = list(ast.walk(tree))
        self._classes = {each.name for each in nodes if isinstance(each, ast.ClassDef)}
        self.functions = {each.name: each for each in nodes if isinstance(each, ast.FunctionDef)}
        imports = (each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom))
        self.imported = {each.asname or each.name.partition(".")[0] for node in imports for each in node.names}
        self._trained = set(_trained(nodes))
        self.values, self.turns = defaultdict[str, list[ast.expr]](list), defaultdict[str, list[ast.expr]](list)
        for each in nodes:
            if isinstance(each, ast.Assign):
                for target in each.targets:
                    if isinstance(target, ast.Name):
                        self.values[target.id].append(each.value)
            elif isinstance(each, ast.For | ast.comprehension) and isinstance(each.target, ast.Name):
                self.turns[each.target.id].append(each.iter)
        self.times, self.in_loops = Counter(stores(tree)), in_loops(tree)
        self.changed = {name for each in self.functions.values() for name in self.changed_in(each)}
        self._weights = dict[str, bool]()

    def changed_in(self, body: ast.AST) -> set[str]:
        """Names whose objects it changes in place, but for what it gives to functions of the text."""
        nodes, own = list(ast.walk(body)), set[int]()
        for each in nodes:
            call = each.value if isinstance(each, ast.Expr) else each
            if isinstance(call, ast.Call) and dotted(call.func) in self.functions:
                own |= {id(each), id(call)}
        return {name for each in nodes if id(each) not in own for name in mutated(each, self.known)}

    def given_to_own(self, body: ast.AST, changed: set[str]) -> set[str]:
        """Names that calls in it give to functions of the text that change arguments of such names."""
        found = set[str]()
        for call in ast.walk(body):
            function = self.functions.get(dotted(call.func)) if isinstance(call, ast.Call) else None
            if isinstance(call, ast.Call) and function is not None:
                found |= {root(given) for name, given in given_to(function, call) if name in changed}
        return found

    def is_of_weights(self, name: str) -> bool:
        """Whether it is, or may have in it, what a training changes."""
        if name not in self._weights:
            self._weights[name] = name in self._trained or any(map(self._trains, self._given(name)))
        return self._weights[name]

    def views_of(self, name: str, depth: int = 0) -> set[str]:
        """Names of which it may be a part."""
        found = set[str]()
        for value in self._given(name) if depth < _DEEPEST else ():
            if isinstance(value, ast.Name | ast.Subscript | ast.Attribute) and (whole := root(value)):
                found |= {whole} | self.views_of(whole, depth + 1)
        return found

    def _given(self, name: str) -> list[ast.expr]:
        return [*self.values.get(name, ()), *self.turns.get(name, ())]

    def _trains(self, value: ast.expr) -> bool:
        called = {dotted(each.func) for each in ast.walk(value) if isinstance(each, ast.Call)}
        return bool(called & self._classes or _CHANGES.search(ast.unparse(value)))


def _trained(nodes: list[ast.AST]) -> Iterator[str]:
    """Names that an optimizer gets, and those of which the text asks for gradients."""
    for node in nodes:
        if isinstance(node, ast.Call) and "optim" in dotted(node.func):
            yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
        elif isinstance(node, ast.Attribute) and node.attr.startswith("requires_grad"):
            yield root(node)


def given_to(function: ast.FunctionDef, call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The arguments of a function with what the call gives for them."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    by_name = [(each.arg, each.value) for each in call.keywords if each.arg]
    return [*zip(names, call.args, strict=False), *by_name]


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What is in it, without what is in functions and classes inside, the outermost first."""
    waiting = list(ast.iter_child_nodes(scope))
    for node in waiting:
        yield node
        if not isinstance(node, _Function | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def stores(scope: ast.AST) -> Iterator[str]:
    """The names that it gives a value to, as often as it does."""
    for node in own_nodes(scope):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id


def in_loops(scope: ast.AST) -> set[str]:
    """The names that loops of the scope give a value to."""
    return {name for each in own_nodes(scope) if isinstance(each, _Loops) for name in stores(each)}
