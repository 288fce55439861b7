"""A list that is an item of a larger container, and is searched for each item of a loop."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from gpuprof.analyses.accounts.host_work import WorkLine
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.reads.searched_items import SearchedItem, searched_item
from gpuprof.rules.registry import rule
from tests.rules.cases.host.whole_collection_per_item import lookups, operand

LIST, DICT = "builtins.list", "builtins.dict"
TAKEN = """\
def draw(users):
    for u in users:
        history = {taken}
        j = random.randrange(n)
        while j in history:
            j = random.randrange(n)
"""


def known(name: str, kind: str = LIST, length: int = 950, *, same: bool = False) -> Operand:
    return Operand(file="cell", first=1, last=9, name=name, kind=kind, looks=9, least=length, most=length, same=same)


HISTORY, SEEN = known("history"), known("seen", DICT, 240, same=True)


def found(source: str, *seen: Operand, line: int = 5, depth: int = 2) -> SearchedItem | None:
    work = WorkLine(
        file="cell", is_cell=True, execution_count=1, line=line, function="draw", ns=1, share=1.0, own_share=1.0,
        first="", below=(), depth=depth, per_sample=False, phase=None, operands=seen,
        cell_lines=(line,), starts_ns=np.zeros(0, np.int64), ends_ns=np.zeros(0, np.int64),
    )  # fmt: skip
    ast.parse(source)
    return searched_item(work, expressions_at(source, line), source)


@pytest.mark.parametrize(
    ("taken", "holder", "sets"),
    [
        ("seen[u]", SEEN, "{key: set(each) for key, each in seen.items()}"),
        ("seen.get(u, [])", known("seen", "collections.defaultdict", 9, same=True), "{key: set(each) for"),
        ("self.seen[u]", known("self.seen", LIST, 240, same=True), "[set(each) for each in self.seen]"),
    ],
)
def test_a_list_out_of_a_container_that_stays(taken: str, holder: Operand, sets: str) -> None:
    told = found(TAKEN.format(taken=taken), HISTORY, holder)
    assert told is not None and told.over is HISTORY
    assert f"Make a set of each list in `{holder.name}`" in told.advice and sets in told.advice


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        # a set, a short list, a list that is always the same one (which another table knows)
        (TAKEN.format(taken="seen[u]"), (known("history", "builtins.set"), SEEN)),
        (TAKEN.format(taken="seen[u]"), (known("history", length=63), SEEN)),
        (TAKEN.format(taken="seen[u]"), (known("history", same=True), SEEN)),
        # made anew, a part of one list, out of a container that is another one each time or not known
        (TAKEN.format(taken="list(rows)"), (HISTORY, SEEN)),
        (TAKEN.format(taken="seen[:u]"), (HISTORY, SEEN)),
        (TAKEN.format(taken="seen[u]"), (HISTORY, known("seen", DICT, 240))),
        (TAKEN.format(taken="seen[u]"), (HISTORY,)),
        (TAKEN.format(taken="seen[u]"), (HISTORY, known("seen", "pandas.Series", 240, same=True))),
        # something else as well
        (TAKEN.format(taken="seen[u]") + "        history = history + [j]\n", (HISTORY, SEEN)),
        (TAKEN.replace("users", "users, history").format(taken="seen[u]"), (HISTORY, SEEN)),
        # no search
        (TAKEN.replace("j in history", "j == history[0]").format(taken="seen[u]"), (HISTORY, SEEN)),
    ],
)
def test_what_a_set_of_each_would_not_serve(source: str, seen: tuple[Operand, ...]) -> None:
    assert found(source, *seen) is None


def test_a_single_loop_may_search_each_list_once() -> None:
    assert found(TAKEN.format(taken="seen[u]"), HISTORY, SEEN, depth=1) is None


def test_the_name_is_looked_up_in_its_own_function() -> None:
    other = "def other():\n    history = []\n\n\n"
    assert found(other + TAKEN.format(taken="seen[u]"), HISTORY, SEEN, line=9) is not None
    top = "history = seen[u]\nwhile j in history:\n    j = 1\n"
    assert found(top, HISTORY, SEEN, line=2) is not None


CELL = """def encode(text):
    while text.pop() in history: history = seen[text[0]]

for text in texts:
    ids = encode(text)
    model(torch.tensor(ids))
"""


def test_the_finding_names_the_container() -> None:
    """In a cell of a second that searches for half of it."""
    seen = (operand("history", LIST, 950, same=False), operand("seen", DICT, 240))
    trace = lookups(source=CELL, over=None)
    trace = replace(trace, context=structs.replace(trace.context, operands=Operands(looks=9, seen=seen)))
    told = rule("whole_collection_per_item").judge(Results(trace))
    assert isinstance(told, Finding) and told.title == "A list of 950 items is searched for each item: 50 % of the cell"
    assert told.change.startswith("Make a set of each list in `seen` once")
