from __future__ import annotations

from gpuprof.capture.lines.names_read import NamesRead, names_of, tree_of

SOURCE = """%matplotlib inline
import numpy as np
for step in range(9):
    batch = rng.choice(n, p=weights.values)

class Memory:
    def sample(self, n):
        kept = list(self.memory)
        return [kept[i] for i in range(n)]
"""


def names_read(source: str) -> list[NamesRead]:
    tree = tree_of(source)
    return [] if tree is None else names_of(tree)


def test_names_by_function_and_by_statement() -> None:
    found = {(each.first, each.last): each for each in names_read(SOURCE)}
    loop, method = found[3, 4], found[7, 9]
    assert {("rng",), ("rng", "choice"), ("n",), ("weights", "values")} <= set(loop.chains)
    assert ("batch",) not in loop.chains and not loop.in_function
    assert {("self", "memory"), ("self",), ("kept",)} <= set(method.chains)
    assert {"self", "n", "kept", "i"} <= method.own and method.in_function


def test_what_is_no_python_has_no_names() -> None:
    assert names_read("def (") == []
    assert names_read("x = 1\n" * 60_000) == []
    assert names_read(f"x = {' + '.join(['y'] * 3000)}\n") == []
    for count in range(200, 1200, 100):  # the parser goes deeper than a walk does
        assert len(names_read(f"x = {' + '.join(['y'] * count)}\n")) <= 1


def test_a_function_within_a_function_has_its_own() -> None:
    source = "def outer(a):\n    def inner(b):\n        return a[b]\n    return inner(a)\n"
    outer, inner = names_read(source)
    assert ("b",) not in outer.chains and ("b",) in inner.chains
