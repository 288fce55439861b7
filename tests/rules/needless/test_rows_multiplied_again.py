"""Rows that are taken and multiplied more often than there are, in a program that runs."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.needless.rows_computed_again import RowsComputedAgain
from tests.rules.needless.test_product_order import looked_cell
from tests.rules.needless.unread_runs import even

torch = pytest.importorskip("torch")
EDGES = """import torch; torch.manual_seed(0)
x, source = torch.rand(100, 128), torch.randint(0, 100, (2400,))
layer = torch.nn.Linear(128, 128)
def step():
    message = layer(x[source])
    message.relu().sum().backward()
"""


def test_edges_that_multiply_their_nodes() -> None:
    found = RowsComputedAgain().check(Results(even(looked_cell(EDGES, "step()"))))
    assert isinstance(found, Finding) and found.where.lines == (5,)
    assert found.title.startswith("The same rows are multiplied again: ")
    assert "Line 5 takes 2,400 rows of a tensor with 100 rows, and line 5 multiplies all of them" in found.explanation
    assert "Each row is multiplied 24 times on average" in found.explanation
    assert "`layer(x)[idx]` in place of `layer(x[idx])`" in found.change


def test_what_is_multiplied_first_is_left_alone() -> None:
    source = EDGES.replace("layer(x[source])", "layer(x)[source]")
    found = RowsComputedAgain().check(Results(even(looked_cell(source, "step()"))))
    assert not isinstance(found, Finding)
