"""Whether the text of a notebook only ever reads reductions of what a name holds: means, maxima, one position."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.memory.kept_graphs import filled_in
from gpuprof.analyses.memory.reducing_calls import Kept, Reduction, joined, keeps_elements, reduction, selection

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_PASSING = {"list", "tuple", "reversed", "array", "asarray", "values", "get", "setdefault", "copy"}
_PAIRS = {"items": 1, "enumerate": 1}
_UNREAD = {"shape", "dtype", "device", "ndim", "requires_grad", "is_cuda"}
_UNREAD_CALLS = {
    "len", "size", "numel", "dim", "element_size", "nelement", "keys", "append", "extend", "add", "insert",
    "appendleft", "clear", "update", "isinstance", "type", "id",
}  # fmt: skip
_MOST_NAMES = 40
_APART = Kept()


@dataclass(frozen=True)
class LaterReductions:
    """`reductions`: all that is read of what the name holds. `whole`: the name stands for the joined tensor at the
    end; `joined`: other names that do."""

    reductions: tuple[Reduction, ...]
    whole: bool
    joined: tuple[str, ...] = ()

    def left_share(self, shape: tuple[int, ...], tensors: int) -> float | None:
        """Which share of the elements of `tensors` tensors of that shape all of them leave, 0..1; None: not known."""
        shares = [each.left_share(shape, tensors, whole=self.whole) for each in dict.fromkeys(self._distinct())]
        known = [share for share in shares if share is not None]
        return min(sum(known), 1.0) if known and len(known) == len(shares) else None

    def _distinct(self) -> Iterator[Reduction]:
        seen = set()
        for each in self.reductions:
            key = (each.call, each.of)
            if key not in seen:
                seen.add(key)
                yield each


def later_reductions(sources: Sequence[str], name: str, function: str | None = None) -> LaterReductions | None:
    """Of what is put into `name` (a variable of that function, else of the notebook), by the texts of the cells; None
    where something may read more than reductions of it, or nothing reads it."""
    found, joined_as, whole = list[Reduction](), list[str](), False
    for source in sources:
        text = _text(source) if name in source else None
        if text is None:
            continue
        scopes: list[ast.AST] = [text.tree] if function is None else text.functions(function)
        for scope in scopes:
            uses = _Uses(text)
            if not uses.follow(name, scope):
                return None
            found += uses.reductions
            joined_as += uses.joined
            whole |= uses.whole
    return LaterReductions(tuple(found), whole, tuple(dict.fromkeys(joined_as))) if found else None


class _ParsedText:
    """A text as a tree, with the node above each."""

    def __init__(self, tree: ast.Module):
        self.tree = tree
        self.above = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}

    def functions(self, name: str) -> list[ast.AST]:
        """Those of that name."""
        return [node for node in ast.walk(self.tree) if isinstance(node, _FUNCTIONS) and _name_of(node) == name]

    def loads(self, name: str, scope: ast.AST) -> Iterator[ast.Name]:
        """Where a variable of that scope is read, in scopes inside it, too."""
        for node in inside_scope(scope, name):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                yield node

    def statement(self, node: ast.AST) -> ast.AST:
        """The one that it stands in."""
        while not isinstance(node, ast.stmt):
            node = self.above[node]
        return node


class _Uses:
    """Follows what a name holds from use to use. `reductions`: those that were met; `whole`: the name was bound to the
    joined tensor; `joined`: other names in its scope were."""

    def __init__(self, text: _ParsedText):
        self._text = text
        self.reductions: list[Reduction] = []
        self.whole = False
        self.joined: list[str] = []
        self._done: set[tuple[str, int, int]] = set()

    def follow(self, name: str, scope: ast.AST, kept: Kept = _APART, after: int = 0) -> bool:
        """Whether all uses of that name behind line `after` read reductions alone."""
        key = (name, id(scope), after)
        if key in self._done:
            return True
        self._done.add(key)
        if len(self._done) > _MOST_NAMES:
            return False
        until = self._rebound(name, scope, after)
        loads = [node for node in self._text.loads(name, scope) if after < node.lineno <= until]
        return all(self._used(node, name, scope, kept) for node in loads)

    def _rebound(self, name: str, scope: ast.AST, after: int) -> float:
        """The last line of the statement that binds it to something else that is made of it."""
        for node in inside_scope(scope, name):
            if not isinstance(node, ast.Assign) or node.lineno <= after:
                continue
            binds = any(_is(each, name) for each in node.targets)
            if binds and (after or any(_is(inner, name) for inner in ast.walk(node.value))):
                return node.end_lineno or node.lineno
        return float("inf")

    def _used(self, node: ast.AST, name: str, scope: ast.AST, kept: Kept) -> bool:
        """Follow one expression that stands for what is kept, upwards."""
        while True:
            above = self._text.above[node]
            if isinstance(above, ast.Attribute):
                if above.attr in _UNREAD:
                    return True
                call = self._text.above[above]
                if not isinstance(call, ast.Call) or call.func is not above:
                    return above.attr in ("T", "mT", "data") and self._used(above, name, scope, kept)
                above = call
            if isinstance(above, ast.Call):
                after = self._called(above, node, scope, kept)
            elif isinstance(above, ast.Subscript):
                after = self._taken(above, node, kept)
            else:
                return self._bound(above, node, name, scope, kept)
            if isinstance(after, bool):
                return after
            node, kept = above, after

    def _called(self, call: ast.Call, node: ast.AST, scope: ast.AST, kept: Kept) -> bool | Kept:
        """True: a reduction, or nothing is read; False: it may read more; else what it makes."""
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        target = filled_in(call)
        if target is not None and called not in _PASSING and self._holds(target, node):
            return True
        if called in _UNREAD_CALLS and (isinstance(call.func, ast.Name) or self._holds(call.func, node)):
            return True
        if node not in call.args[:1] and not self._holds(call.func, node):
            return self._given(call, node, kept)
        made = joined(call)
        if made is not None:
            return made if kept.joined is None else False
        found = reduction(call, kept)
        if found is not None:
            self.reductions.append(found)
            return True
        if called in _PASSING or called in _PAIRS or keeps_elements(call, kept):
            return kept
        return self._given(call, node, kept)

    def _given(self, call: ast.Call, node: ast.AST, kept: Kept) -> bool:
        """Whether a function of the text that it is given to reads reductions alone."""
        known = self._text.functions(call.func.id) if isinstance(call.func, ast.Name) else []
        if len(known) != 1 or node not in call.args:
            return False
        parameters = known[0].args.args  # type: ignore[attr-defined]
        at = call.args.index(node)
        return at < len(parameters) and self.follow(parameters[at].arg, known[0], kept)

    def _taken(self, index: ast.Subscript, node: ast.AST, kept: Kept) -> bool | Kept:
        if index.value is not node:
            return False
        if not isinstance(index.ctx, ast.Load):
            return True
        found = selection(index, kept)
        if found is not None:
            self.reductions.append(found)
            return True
        # an item of the container, or a part of the items
        part = isinstance(index.slice, ast.Slice)
        return kept if (part if kept.joined is not None else not isinstance(index.slice, ast.Tuple)) else False

    def _bound(self, above: ast.AST, node: ast.AST, name: str, scope: ast.AST, kept: Kept) -> bool:
        if isinstance(above, ast.Assign) and len(above.targets) == 1 and above.value is node:
            target = above.targets[0]
            if not isinstance(target, ast.Name):
                return False
            inner = self._scope_of(above)
            if kept.joined is not None and inner is scope:
                self.whole |= target.id == name
                self.joined += [target.id] if target.id != name else []
            return self.follow(target.id, inner, kept, after=above.end_lineno or above.lineno)
        if isinstance(above, ast.For | ast.comprehension) and above.iter is node:
            return kept.joined is None and self._each(above, node)
        if isinstance(above, _COMPREHENSIONS):
            return getattr(above, "elt", None) is node and self._used(above, name, scope, kept)
        if isinstance(above, ast.BinOp | ast.UnaryOp):
            others = [each for each in ast.iter_child_nodes(above) if isinstance(each, ast.expr) and each is not node]
            return all(isinstance(each, ast.Constant) for each in others) and self._used(above, name, scope, kept)
        if isinstance(above, ast.Compare):
            if all(isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in above.ops):
                return True
            plain = all(isinstance(each, ast.Constant) for each in above.comparators) and above.left is node
            return plain and self._used(above, name, scope, kept)
        return isinstance(above, ast.If | ast.While | ast.Expr | ast.Delete | ast.AugAssign)

    def _each(self, loop: ast.For | ast.comprehension, node: ast.AST) -> bool:
        """The variable of a loop over it; of pairs the part that is what was kept."""
        called = node.func if isinstance(node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        target = loop.target
        if isinstance(target, ast.Tuple):
            at = _PAIRS.get(name)
            if at is None or at >= len(target.elts):
                return False
            target = target.elts[at]
        if not isinstance(target, ast.Name):
            return False
        inside = loop if isinstance(loop, ast.For) else self._text.above[loop]
        if name not in _PAIRS and name != "values" and self._is_key(target.id, inside):
            return True
        return self.follow(target.id, inside)

    def _is_key(self, variable: str, inside: ast.AST) -> bool:
        """Whether something is looked up by it: `for name in held: held[name]`."""
        found = (each.slice for each in ast.walk(inside) if isinstance(each, ast.Subscript))
        return any(_is(index, variable) for index in found)

    def _holds(self, function: ast.AST, node: ast.AST) -> bool:
        """Whether it is the tensor, or the container, that a method is called of."""
        return function is node or (isinstance(function, ast.Attribute) and function.value is node)

    def _scope_of(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, ast.Module | _FUNCTIONS):
            node = self._text.above[node]
        return node


@lru_cache(maxsize=64)
def _text(source: str) -> _ParsedText | None:
    tree = parsed(source)
    return None if tree is None else _ParsedText(tree)


def inside_scope(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    """What is in a scope, without functions that have a variable of that name themselves."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, _FUNCTIONS) and _binds(node, name):
            continue
        yield node
        yield from inside_scope(node, name)


def _binds(function: ast.AST, name: str) -> bool:
    arguments: ast.arguments = function.args  # type: ignore[attr-defined]
    given = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    if any(each.arg == name for each in given):
        return True
    body = [node for node in ast.walk(function) if isinstance(node, ast.Name | ast.Global | ast.Nonlocal)]
    if any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in body):
        return False
    return any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in body)


def _name_of(function: ast.AST) -> str:
    return getattr(function, "name", "")


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
