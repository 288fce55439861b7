"""What the text of a cell gives its names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

LIBRARIES = frozenset(("torch", "nn", "F", "functional", "math", "np", "numpy", "einops"))
CONTAINERS = frozenset(("ModuleList", "Sequential"))


class CellBindings:
    """Of one cell: functions, values and classes by name; what has two meanings has none (None).

    `self.x` goes by the name of its class (`Net.x`), and so do methods. `imported`: from libraries without a state.
    """

    def __init__(self, tree: ast.AST):
        self.functions: dict[str, ast.FunctionDef | None] = {}
        self.values: dict[str, ast.expr | None] = {}
        self.imported: set[str] = set()
        self.classes: set[str] = set()
        self._owners: dict[ast.AST, str] = {}
        self._methods: set[ast.AST] = set()
        self._parts: dict[str, list[ast.expr]] = {}
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                self._own(node)
        walked = {id(name) for node in nodes for name in self._walk(node)}
        for node in nodes:
            self._bind(node, id(node) in walked)

    def key(self, node: ast.AST) -> str:
        """The name of this function or value; empty where it is anything but names and attributes."""
        text = dotted(node)
        return self._owners[node] + text[4:] if text.startswith("self.") and node in self._owners else text

    def is_bound(self, name: str) -> bool:
        """Whether the cell gives this name a value, known or not."""
        return name in self.values or name in self._parts

    def made_of(self, name: str) -> tuple[ast.expr, ...]:
        """What the cell gives this name, once; for a name that goes over modules (`for layer in self.layers`) all of
        them. Empty where that is not known."""
        if name in self.values:
            value = self.values[name] if name not in self._parts else None
            return () if value is None else (value,)
        found = [self._members(each) for each in self._parts.get(name, ())]
        return tuple(each for members in found for each in members) if all(found) else ()

    def _own(self, node: ast.ClassDef) -> None:
        """What is derived from a class of the cell may put another method in place of its own."""
        derived = {dotted(each) for each in node.bases} & self.classes
        self.functions |= {name: None for name in self.functions if name.partition(".")[0] in derived}
        self._owners |= dict.fromkeys(ast.walk(node), node.name)
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                self._define(f"{node.name}.{each.name}", each)
                self._methods.add(each)
        self.classes.add(node.name)

    def _define(self, name: str, node: ast.FunctionDef) -> None:
        self.functions[name] = None if name in self.functions else node

    def _bind(self, node: ast.AST, walked: bool) -> None:
        if isinstance(node, ast.FunctionDef) and node not in self._methods:
            self._define(node.name, node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in LIBRARIES:
            self.imported |= {each.asname or each.name for each in node.names}
        elif isinstance(node, ast.arg):
            self.values[node.arg] = None
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            if name := self.key(node.targets[0]):
                self.values[name] = None if name in self.values else node.value
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not walked:
            self.values.setdefault(node.id, None)

    def _walk(self, node: ast.AST) -> Iterator[ast.Name]:
        """The names that go over the parts of something in this loop, and what that is."""
        if isinstance(node, ast.For | ast.comprehension):
            for target, iterable in _pairs(node.target, node.iter):
                self._parts.setdefault(target.id, []).append(iterable)
                yield target

    def _members(self, iterable: ast.expr) -> list[ast.expr]:
        """The modules in a list of them; empty where it is something else."""
        held = iterable if isinstance(iterable, ast.Call) else self.values.get(self.key(iterable))
        return members(held) if held is not None else []


def members(held: ast.expr) -> list[ast.expr]:
    """What a text such as `nn.ModuleList(nn.Linear(3, 3) for _ in range(4))` puts into it, each once."""
    if isinstance(held, ast.Call):
        inside = held.args if dotted(held.func).rpartition(".")[2] in CONTAINERS else []
        return [part for each in inside for part in (members(each) or [each])]
    if isinstance(held, ast.Starred):
        return members(held.value)
    if isinstance(held, ast.List | ast.Tuple):
        return list(held.elts)
    return [held.elt] if isinstance(held, ast.ListComp | ast.GeneratorExp) else []


def dotted(node: ast.AST) -> str:
    """`self.head` of such a node; empty where it is anything but names and attributes."""
    if isinstance(node, ast.Name):
        return node.id
    if not isinstance(node, ast.Attribute):
        return ""
    inner = dotted(node.value)
    return f"{inner}.{node.attr}" if inner else ""


def _pairs(target: ast.expr, iterable: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Each name of a loop with what it goes over, through `zip`, `enumerate` and `reversed`."""
    called = dotted(iterable.func) if isinstance(iterable, ast.Call) else ""
    given = iterable.args if isinstance(iterable, ast.Call) else []
    if isinstance(target, ast.Name):
        yield target, given[0] if called == "reversed" and given else iterable
    elif isinstance(target, ast.Tuple | ast.List):
        if called == "zip" and len(given) == len(target.elts):
            for each, part in zip(target.elts, given, strict=True):
                yield from _pairs(each, part)
        elif called == "enumerate" and given and len(target.elts) == 2:
            yield from _pairs(target.elts[1], given[0])
