"""Which attributes of its own object a class reads in some of its methods."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# what these call themselves reads no attributes of a user's class
_PLAIN_BASES = {"object", "ABC", "Module", "nn.Module", "torch.nn.Module", "abc.ABC", "Generic", "Protocol"}
_CALLED = {"": ("__call__", "forward")}


class ClassReads:
    """Of the classes in these texts."""

    def __init__(self, trees: Sequence[ast.Module]):
        self._classes: dict[str, list[ast.ClassDef]] = {}
        for tree in trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self._classes.setdefault(node.name, []).append(node)

    def knows(self, name: str) -> bool:
        """Whether one text has that class, once."""
        return len(self._classes.get(name, ())) == 1

    def of(self, name: str, members: Iterable[str]) -> set[str] | None:
        """The attributes that are read where `members` are, methods with all that they call; an empty member stands for
        a call of the object. None where a method hands out its object as a whole, or a base class is not known."""
        methods = self._methods(name)
        if methods is None:
            return None
        found, later = set[str](), [each for member in members for each in _CALLED.get(member, (member,))]
        while later:
            member = later.pop()
            if member in found:
                continue
            found.add(member)
            if (method := methods.get(member)) is not None:
                reads = list(_own_reads(method))
                if None in reads:
                    return None
                later += [each for each in reads if each]
        return found

    def _methods(self, name: str) -> dict[str, _Function] | None:
        if not self.knows(name):
            return None
        own = self._classes[name][0]
        found: dict[str, _Function] = {}
        for base in (ast.unparse(each) for each in own.bases):
            if base.partition("[")[0] not in _PLAIN_BASES:
                inherited = self._methods(base) if base != name else None
                if inherited is None:
                    return None
                found |= inherited
        return found | {each.name: each for each in own.body if isinstance(each, _Function)}


def _own_reads(method: _Function) -> Iterator[str | None]:
    """Attributes of its first argument; None where that is used in any other way."""
    arguments = (*method.args.posonlyargs, *method.args.args)
    if not arguments:
        return
    around = {id(inner): node for node in ast.walk(method) for inner in ast.iter_child_nodes(node)}
    for node in ast.walk(method):
        if isinstance(node, ast.Name) and node.id == arguments[0].arg:
            above = around[id(node)]
            if not isinstance(above, ast.Attribute):
                yield None
            elif isinstance(above.ctx, ast.Load):
                yield above.attr
