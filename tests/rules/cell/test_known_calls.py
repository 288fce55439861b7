"""Of which statements the text says what everything that they call does."""

from __future__ import annotations

import ast

import pytest

from gpuprof.rules.cell.effects import has_effects, seeds
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

def listed(net):
    rows = []
    for name, p in net.named_parameters():
        rows.append(p.norm().item())
    return rows

def kept(net):
    history.append(net)

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
        ("x = listed(net)", True),
        ("x = kept(net)", False),
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
        # fewer random numbers make all later ones others
        ("x = accuracy(torch.randn_like(net))", False),
        ("x = buffer.sample(64)", False),
        ("x = np.random.default_rng().normal(size=3)", False),
        ("x = torch.empty(3).normal_()", False),
        ("x = torch.manual_seed(0)", False),
        ("x = table.sample(64, random_state=0)", True),
        ("x = table.resample('D').mean()", True),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)", True),
        ("norm = clip_grad_norm_(net.parameters(), 1.0)", True),
        ("norm = clipped(net)", True),
        ("y = x.mul_(2).sum()", True),
        ("y = torch.mul(x, 2, out=buffer)", True),
        ("y = F.relu(x, inplace=True)", True),
        ("y = F.relu(x, inplace=flag)", True),
        # to change what nobody else has changes nothing
        ("y = torch.zeros(3, 4).scatter_(1, labels, 1)", False),
        ("y = x.clone().mul_(2)", False),
        ("y = F.relu(x, inplace=False)", False),
        ("y = np.sqrt(x, out=None)", False),
        ("y = x.__len__() + len(_('text'))", False),
    ],
)
def test_what_changes_in_place(text: str, expected: bool) -> None:
    tree = ast.parse(f"def clipped(net):\n    return clip_grad_norm_(net.parameters(), 1)\n\n{text}\n")
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert has_effects(tree.body[-1], functions) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch.manual_seed(0)", True),
        ("torch.cuda.manual_seed_all(0)", True),
        ("np.random.seed(0)", True),
        ("set_seed(0)", True),
        ("start()", True),
        # of a generator of its own
        ("g = torch.Generator(); g.manual_seed(0)", False),
        ("g = torch.Generator().manual_seed(0)", False),
        ("split(random_state=0)", False),
        ("print(torch.initial_seed())", False),
    ],
)
def test_what_seeds_for_others(line: str, expected: bool) -> None:
    other = "def start():\n    random.seed(0)\n    start()\n"
    assert seeds("tools.load", [f"def load():\n    {line}\n", other, "no Python ("]) is expected
