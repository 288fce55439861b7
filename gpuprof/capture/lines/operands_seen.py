"""What was seen of the names of each function, in numbers and names alone."""

from __future__ import annotations

import ast
import time
from array import array
from collections.abc import Callable
from typing import Any

from gpuprof.capture.lines.names_read import Chain, NamesRead, names_of
from gpuprof.capture.lines.operand_facts import OperandFacts, facts_of
from gpuprof.model.operands import Operand

_LOOKS = 300
_MOST_PLACES = 4000
# numbers and functions are not looked at again after three looks, and what has no value yet after thirty: the first
# call of a library takes long, and what it gives has no value so long
_TRIES, _OF_A_VALUE, _OF_NO_VALUE = 30, 10, 1
# what grows does so nearly each time that its size was seen to change
_RISES, _FEWEST_CHANGES = 0.75, 8
_Value = Callable[[Chain], tuple[bool, Any]]


class OperandsSeen:
    """All scopes of all files; `read` is for the watching thread, the rest for the main one."""

    def __init__(self) -> None:
        self._scopes: dict[str, list[NameScope]] = {}
        self._at: dict[tuple[str, int], NameScope | None] = {}

    def read(self, filename: str, tree: ast.Module) -> None:
        """Find the names in the syntax tree of a file."""
        self._scopes[filename] = [NameScope(each) for each in names_of(tree)]

    def scopes(self, filename: str) -> list[NameScope]:
        """Those of a file that was read."""
        return self._scopes.get(filename, [])

    def scope_at(self, filename: str, line: int) -> NameScope | None:
        """The innermost around that line; None for a file that is not read yet."""
        scopes = self._scopes.get(filename)
        if scopes is None:
            return None
        if (filename, line) not in self._at:
            around = [each for each in scopes if each.names.first <= line <= each.names.last]
            self._at[filename, line] = around[-1] if around else None
        return self._at[filename, line]

    def operands(self) -> tuple[Operand, ...]:
        """Everything that was seen, as it is recorded."""
        found = [each for file, scopes in self._scopes.items() for scope in scopes for each in scope.operands(file)]
        return tuple(found[:_MOST_PLACES])


class NameScope:
    """The names of one function, or of one statement outside of any. `looks`: how often it was looked at."""

    def __init__(self, names: NamesRead):
        self.names = names
        self.looks = 0
        self._left = dict.fromkeys(names.chains, _TRIES)
        self._seen: dict[tuple[str, str], _SeenName] = {}

    def begin_look(self) -> bool:
        """Whether it is to be looked at (again)."""
        self.looks += 1
        return self.looks <= _LOOKS and bool(self._left)

    def owns(self, name: str) -> bool:
        """Whether it is a variable of the function's."""
        return self.names.in_function and name in self.names.own

    def note(self, value_of: _Value) -> None:
        """Look at each name."""
        now_ns = time.time_ns()
        for chain, tries in list(self._left.items()):
            known, value = value_of(chain)
            facts = facts_of(value) if known else None
            if facts is not None:
                key = (".".join(chain), facts.kind)
                if key in self._seen:
                    self._seen[key].again(facts)
                else:
                    self._seen[key] = _SeenName(facts)
                self._seen[key].sized(now_ns, facts)
            if facts is None or facts.callable:
                self._left[chain] = tries - (_OF_A_VALUE if known else _OF_NO_VALUE)
                if self._left[chain] <= 0:
                    del self._left[chain]

    def operands(self, file: str) -> list[Operand]:
        """What was seen here."""
        first, last = self.names.first, self.names.last
        return [each.operand(file, first, last, *key) for key, each in self._seen.items()]


class _SeenName:
    """All looks at one name, while it was of one kind."""

    def __init__(self, first: OperandFacts):
        self._looks, self._same, self._identity = 1, True, first.identity
        self._callable, self._least, self._most, self._holds = first.callable, first.length, first.length, first.holds
        self._items, self._parts = first.items, first.parts
        self._fewest = self._largest = first.elements
        self._times, self._sizes, self._rises = array("q"), array("q"), 0

    def sized(self, now_ns: int, facts: OperandFacts) -> None:
        """Note how large it is, where that has changed."""
        size = facts.length if facts.elements is None else facts.elements
        if size is None or (self._sizes and size == self._sizes[-1]):
            return
        self._rises += bool(self._sizes) and size > self._sizes[-1]
        self._times.append(now_ns)
        self._sizes.append(size)

    def _grows(self) -> bool:
        changes = len(self._sizes) - 1
        return changes >= _FEWEST_CHANGES and self._rises >= _RISES * changes

    def again(self, facts: OperandFacts) -> None:
        self._looks += 1
        self._same = self._same and facts.identity == self._identity
        self._items = facts.items or self._items
        self._parts = facts.parts or self._parts
        if facts.length is not None:
            self._least = facts.length if self._least is None else min(self._least, facts.length)
            self._most = facts.length if self._most is None else max(self._most, facts.length)
        if facts.elements is not None:
            self._fewest = facts.elements if self._fewest is None else min(self._fewest, facts.elements)
            self._largest = max(self._largest or 0, facts.elements)
        if facts.holds is not None:
            self._holds = max(self._holds or 0, facts.holds)

    def operand(self, file: str, first: int, last: int, name: str, kind: str) -> Operand:
        return Operand(
            file=file,
            first=first,
            last=last,
            name=name,
            kind=kind,
            looks=self._looks,
            callable=self._callable,
            least=self._least,
            most=self._most,
            holds=self._holds,
            same=self._same,
            items=self._items,
            parts=self._parts,
            fewest_elements=self._fewest,
            most_elements=self._largest,
            sizes=tuple(zip(self._times, self._sizes, strict=True)) if self._grows() else (),
        )
