"""What a loop computes again in each iteration, though nothing of it depends on the loop; and what only looks so."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.unchanged_calls import UnchangedCall, unchanged_calls

FOLDS = """import numpy as np
import torch
from sklearn.impute import KNNImputer
from sklearn.model_selection import KFold

rng = np.random.default_rng(4)
X = rng.normal(size=(90, 5))
y = X.sum(1)

def prepare(train, valid):
    imputer = KNNImputer()
    train = imputer.fit_transform(train)
    return torch.tensor(train), imputer.transform(valid)

def mean_of(x, width):
    net = torch.nn.Linear(5, width)
    return net(x).mean().item()

folds = list(KFold(4).split(X))
results = {}
for width in (32, 64, 128):
    for wd in (1e-4, 1e-2):
        scores = []
        for tr, va in folds:
            x_tr, x_va = prepare(X[tr], X[va])
            scores.append(mean_of(x_tr, width))
        results[width, wd] = np.mean(scores)
"""
LOOP = """import numpy as np
import pandas as pd
from sklearn.neighbors import KDTree
table = pd.DataFrame({"a": [1.0, 2.0]})
points = np.zeros((9, 2))
rng = np.random.default_rng(0)
queue = [3, 2, 1]
def grow(k):
    points[k] = 1
    return k
for k in range(8):
    STATEMENT
    print(k, value)
"""


def of(statement: str, source: str = LOOP) -> list[str]:
    return [each.call for each in unchanged_calls(source.replace("STATEMENT", statement))]


def test_a_function_without_a_name_may_stand_in_the_loop() -> None:
    assert of("value = KDTree(points); rank = sorted(queue, key=lambda each: each + k)") == ["KDTree"]


def test_folds_prepared_again_for_each_configuration() -> None:
    assert unchanged_calls(FOLDS) == (UnchangedCall(25, 25, "prepare", 21, 6, frozenset()),)


@pytest.mark.parametrize(
    "change",
    [
        # what the fold is prepared with depends on the configuration, or on chance
        ("prepare(X[tr], X[va])", "prepare(X[tr] * wd * width, X[va])"),
        ("    imputer = KNNImputer()", "    imputer = KNNImputer()\n    train = train + rng.normal(size=train.shape)"),
        ("KNNImputer()", "IterativeImputer()"),
        # another order of the rows each time
        ("in folds:", "in KFold(4, shuffle=True).split(X):"),
        ("folds = list(KFold(4).split(X))", "folds = KFold(4).split(X)"),
        ("        scores = []", "        rng.shuffle(folds)\n        scores = []"),
        # the data change from one to the next
        ("        scores = []", "        scores = []\n        X[0] += wd + width"),
        # what is kept is changed afterwards
        ("            scores.append", "            x_tr += 1\n            scores.append"),
        ("    net = torch", "    x -= x.mean()\n    net = torch"),
        ("    net = torch", "    rng.shuffle(x)\n    net = torch"),
        ("    net = torch", "    X[0] = width\n    net = torch"),
        # only once
        ("            x_tr, x_va =", "            if wd * width > 1:\n                x_tr, x_va ="),
        # to time it
        ("        scores = []", "        t = time.perf_counter()\n        scores = [time.perf_counter() - t]"),
    ],
)  # fmt: skip
def test_what_only_looks_like_it(change: tuple[str, str]) -> None:
    assert change[0] in FOLDS
    assert unchanged_calls(FOLDS.replace(*change)) == ()


@pytest.mark.parametrize(
    "statement", ["value = KDTree(points)", "value = table.groupby('a').mean()", "value = np.linalg.svd(points)"]
)
def test_calls_of_libraries(statement: str) -> None:
    assert of(statement) == [statement.partition(" = ")[2].rpartition("(")[0].replace("(points)", "")]


@pytest.mark.parametrize(
    "statement",
    [
        # it depends on the loop, or on what the iteration before has left
        "value = np.linalg.svd(points * k)",
        "value = k; value = np.linalg.svd(value * points)",
        "value = np.sort(later) if k else 0; later = np.sort(points + k)",
        # chance, files, an iterator
        "value = rng.normal(size=9)",
        "value = pd.read_csv('a.csv')",
        "value = next(batches)",
        # what it reads is changed by another name for it, or by a function that reads it
        "row = points[0]; row[1] = k; value = np.linalg.svd(points)",
        "row = points; row += 1; value = np.linalg.svd(points)",
        "count = grow(k); value = np.linalg.svd(points)",
        "least = heapq.heappop(queue); value = np.sort(queue)",
        # nobody knows what that does
        "value = measure_all(points)",
        # made anew to be changed, or for its effect
        "value = points.copy()",
        "value = np.sort(points); value[0] = k",
        "value = np.sort(points); value.resize(3)",
        "value = np.sort(points); view = value[:3]; view += 1",
        "np.linalg.svd(points); value = k",
        "value = len(points)",
    ],
)
def test_what_may_differ_or_is_nothing_to_keep(statement: str) -> None:
    assert of(statement) == []


def test_what_the_text_does_not_know_is_named() -> None:
    source = (
        "import numpy as np\ndef run(x, model):\n    for k in range(9):\n        y = np.sort(x)\n        print(y, k)\n"
    )
    (found,) = unchanged_calls(source)
    assert found.unknown == {"x"} and found.turns == 9


def test_a_recurrence_is_none() -> None:
    source = "import numpy as np\nu = v = np.ones(3)\nfor k in range(9):\n    u = np.sort(v)\n    v = np.cumsum(u)\n"
    assert unchanged_calls(source) == ()


@pytest.mark.parametrize("source", ["for k in (", "x = 3\n", "for k in range(1):\n    y = sorted_all(x)\n"])
def test_where_nothing_is_known(source: str) -> None:
    assert unchanged_calls(source) == ()
