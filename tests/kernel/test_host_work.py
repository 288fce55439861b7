"""A list that is searched for each item, a function that pandas calls for each row, and neither: cells in a kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.kernel import LiveKernel, live_kernel

SET_UP = """
import random
import torch

words = [f"word{i}" for i in range(3000)]
texts = [random.choices(words, k=40) for _ in range(1200)]
ids_of = {word: i for i, word in enumerate(words)}
"""
SEARCHED = """%%gpuprofile
def encode(text):
    return torch.tensor([words.index(each) for each in text])

total = 0
for text in texts:
    total += encode(text).sum().item()
"""
LOOKED_UP = SEARCHED.replace("words.index(each)", "ids_of[each]").replace("in texts:", "in texts * 20:")


def told(kernel: LiveKernel, cell: str) -> dict[str, Any]:
    ran = kernel.run(cell)
    assert not ran.failed, ran.traceback
    shown = kernel.run("import json, gpuprof; print(json.dumps(gpuprof.last().to_dict()))")
    assert not shown.failed, shown.traceback
    found: dict[str, Any] = json.loads(shown.stream("stdout"))
    return found


def test_a_list_that_is_searched_is_named_and_a_dict_is_not(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(SET_UP).failed
        searched, looked_up = told(kernel, SEARCHED), told(kernel, LOOKED_UP)
        cost = kernel.run(
            "seen = gpuprof.last().trace.context.operands\n"
            "window = gpuprof.last().trace.context.window\n"
            "print(seen.looks, seen.cost_ns / (window.cell_end_ns - window.cell_start_ns))"
        ).stream("stdout")

    (finding,) = (each for each in searched["findings"] if each["rule"] == "whole_collection_per_item")
    assert finding["severity"] != "low" and 3 in finding["where"]["lines"]
    assert finding["title"].startswith("A list of 3,000 items is searched for each item")
    assert "`words` is a list of 3,000" in finding["explanation"]
    rules = {each["rule"] for each in looked_up["findings"] if each["severity"] != "low"}
    assert rules.isdisjoint({"whole_collection_per_item", "costly_call_per_item"})
    looks, share = cost.split()
    assert int(looks) > 0 and float(share) < 0.01


TABLE = """
import numpy as np
import pandas as pd
import torch

table = pd.DataFrame({"price": np.linspace(1, 9, 40_000), "units": np.arange(40_000) % 30})
weights = torch.randn(600, 600)
"""
BY_ROW = """%%gpuprofile
def revenue(frame, rate):
    return frame.apply(lambda row: row["price"] * row["units"] * rate, axis=1)

total = revenue(table, 1.1).sum()
for _ in range(20):
    weights = torch.softmax(weights @ weights, 1)
"""
BY_COLUMN = """%%gpuprofile
def revenue(frame, rate):
    return frame["price"] * frame["units"] * rate

total = sum(revenue(table, rate).sum() for rate in range(200))
for _ in range(20):
    weights = torch.softmax(weights @ weights, 1)
"""


def test_a_function_called_for_each_row_is_named_and_whole_columns_are_not(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(TABLE).failed
        by_row, by_column = told(kernel, BY_ROW), told(kernel, BY_COLUMN)

    (finding,) = (each for each in by_row["findings"] if each["rule"] == "python_callback_per_item")
    assert finding["title"].startswith("pandas calls Python for each row")
    assert 3 in finding["where"]["lines"] and "calls a `lambda` repeatedly" in finding["explanation"]
    assert "python_callback_per_item" not in {each["rule"] for each in by_column["findings"]}


POINTS = """
import numpy as np
import torch

points = np.random.default_rng(0).normal(size=(60_000, 8))
weights = torch.randn(300, 300)
"""
ONE_BY_ONE = """%%gpuprofile
spread = []
for point in points:
    spread.append(np.std(point))
for _ in range(20):
    weights = torch.softmax(weights @ weights, 1)
"""
AT_ONCE = """%%gpuprofile
for _ in range(60):
    spread = np.std(points, axis=1)
for _ in range(20):
    weights = torch.softmax(weights @ weights, 1)
"""
SHUFFLED = """%%gpuprofile
drawn = []
for _ in range(150):
    drawn.append(np.random.choice(300_000, 64, replace=False))
for _ in range(20):
    weights = torch.softmax(weights @ weights, 1)
"""
DRAWN = SHUFFLED.replace("drawn = []", "rng = np.random.default_rng(0)\ndrawn = []").replace(
    "range(150):\n    drawn.append(np.random.choice", "range(15_000):\n    drawn.append(rng.choice"
)


def test_one_item_at_a_time_and_more_than_is_used_are_named(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(POINTS).failed
        one_by_one, at_once, shuffled, drawn = (told(kernel, each) for each in (ONE_BY_ONE, AT_ONCE, SHUFFLED, DRAWN))

    (finding,) = (each for each in one_by_one["findings"] if each["rule"] == "costly_call_per_item")
    assert finding["title"].startswith("`np.std` is called once for each item")
    assert 4 in finding["where"]["lines"] and "`points` is an array of 60,000 items" in finding["explanation"]
    (finding,) = (each for each in shuffled["findings"] if each["rule"] == "costly_call_per_item")
    assert finding["title"].startswith("`np.random.choice` shuffles everything to draw a few")
    for each in (at_once, drawn):
        assert "costly_call_per_item" not in {found["rule"] for found in each["findings"]}
