"""From which length on going through all of an object is worth telling: a short list takes as long as the call does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from gpuprof.model.operands import Operand, Operands
from tests.rules.cases.host.costly_call_per_item import calls, library
from tests.rules.cases.host.whole_collection_per_item import operand
from tests.rules.host.test_operations import ARRAY, LIST, TABLE, of_all, told
from tests.support.trace_builder import CELL_FILE

FEW, MANY = 64, 1000
"""What Python goes through item by item, and what arrays or built-in functions go through at their speed."""


@pytest.mark.parametrize(
    ("line", "name", "kind", "least"),
    [
        ("return each in words", "words", LIST, FEW),
        ("return words.index(each)", "words", LIST, FEW),
        ("return words.count(each)", "words", LIST, FEW),
        ("return table[table.user == user]", "table", TABLE, MANY),
        ("return np.where(ids == each)[0]", "ids", ARRAY, MANY),
        ("return sample(list(memory), n)", "memory", "collections.deque", MANY),
        ("return sorted(seen.items())", "seen", "builtins.dict", MANY),
        ("return rng.permutation(ids)[:k]", "ids", ARRAY, MANY),
        ("return np.isin(batch, known)", "known", ARRAY, MANY),
        ("return np.array(rows)[picked]", "rows", LIST, MANY),
    ],
)
def test_an_object_is_long_from_a_length_on(line: str, name: str, kind: str, least: int) -> None:
    assert of_all(line, operand(name, kind, least)) is not None
    assert of_all(line, operand(name, kind, least - 1)) is None


@pytest.mark.parametrize(
    ("line", "name", "kind", "least"),
    [("t = pd.concat([t, row])", "t", TABLE, FEW), ("t = ''.join(p[i] for i in ids)", "ids", LIST, MANY)],
)
def test_an_object_that_grows_counts_with_its_length_at_last(line: str, name: str, kind: str, least: int) -> None:
    assert of_all(line, structs.replace(operand(name, kind, least, least=1), same=kind == LIST)) is not None
    assert of_all(line, structs.replace(operand(name, kind, least - 1, least=1), same=kind == LIST)) is None


@pytest.mark.parametrize(
    ("facts", "told_of"),
    [
        ({"holds": FEW}, True),
        ({"holds": FEW - 1}, False),
        ({"most": FEW}, True),
        ({"most": FEW - 1}, False),
        ({}, False),
    ],
)
def test_an_object_of_a_library_is_large_from_what_it_holds_on(facts: dict[str, int], told_of: bool) -> None:
    source = "for u in points:\n    for v in points:\n        d = nx.shortest_path_length(graph, u, v)\n"
    trace = calls(900, library("other/search.py", "search"), source=source)
    graph = Operand(file=CELL_FILE, first=1, last=3, name="graph", kind="networkx.Graph", looks=9, **facts)
    seen = structs.replace(trace.context, operands=Operands(looks=9, seen=(graph,)))
    assert (told("costly_call_per_item", replace(trace, context=seen)) is not None) is told_of
