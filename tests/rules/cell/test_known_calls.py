"""Of which statements the text says what everything that they call does."""

from __future__ import annotations

import ast

import pytest

from gpuprof.rules.cell.known_calls import imported, is_mode, only_known

TEXT = """import numpy as np
import torch
from sklearn.metrics import f1_score
from utils import evaluate

def accuracy(net):
    with torch.no_grad():
        return (net(points).argmax(1) == labels).float().mean()

def trained(net):
    return net(points).mean()

class Search:
    def run(self):
        VALUE
"""


def known(value: str) -> bool:
    tree = ast.parse(TEXT.replace("VALUE", value))
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    statement = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "run")
    return only_known(statement.body[0], functions, imported(tree))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x = accuracy(net)", True),
        ("x = f1_score(labels, np.sign(scores))", True),
        ("x = max(len(a), 3)", True),
        ("x = table.groupby('a').mean()", True),
        # nobody knows what these do
        ("x = evaluate(net)", False),
        ("x = train_epoch(net)", False),
        ("x = trained(net)", False),
        ("x = self.step(net)", False),
        ("x = trainer.critic_step(net)", False),
        ("x = net.loss(points)", False),
        ("x = next(batches)", False),
    ],
)
def test_what_a_statement_calls(value: str, expected: bool) -> None:
    assert known(value) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net.eval(); net.train()", True),
        ("net.train()", False),
        ("other.eval(); net.train()", False),
        ("net.eval(); net.train(True)", False),
        ("net.eval(); train()", False),
        ("net.eval(); net.step()", False),
    ],
)
def test_a_model_that_is_put_back(text: str, expected: bool) -> None:
    tree = ast.parse(text)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    assert is_mode(last.value, tree) is expected
