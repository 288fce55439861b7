"""NumPy's arrays of one-hot rows, of zeros, and of numbers that a smaller type holds: real cells and their cures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernel import LiveKernel, live_kernel

pytestmark = pytest.mark.kernel
SETUP = """
import time
import numpy as np
import torch
from scipy import sparse

torch.set_num_threads(1)
rng = np.random.default_rng(0)
"""
# as short as a person's own: the peak of the function lasts for some 200 ms
REPORT = """%%gpuprofile --display none
def map_report(pred, truth, k=10):
    p = np.eye(k)[pred.ravel()]
    t = np.eye(k)[truth.ravel()]
    both = (p * t).sum(0)
    n_pred, n_true = p.sum(0), t.sum(0)
    return both / (n_pred + n_true - both)


for region in range(2):
    pred, truth = (rng.integers(0, 10, (2000, 2000), dtype=np.uint8) for _ in range(2))
    time.sleep(0.5)
    print(map_report(pred, truth).mean())
    time.sleep(0.5)
"""
COUNTING = """    table = np.bincount(truth.ravel() * np.uint8(k) + pred.ravel(), minlength=k * k).reshape(k, k)
    both = np.diagonal(table)
    return both / (table.sum(0) + table.sum(1) - both)
"""
COUNTED = REPORT[: REPORT.index("    p = ")] + COUNTING + REPORT[REPORT.index("\n\nfor region") :]
WORDS = """%%gpuprofile --display none
class Rows:
    def __init__(self, matrix):
        self.matrix = matrix


places = np.repeat(np.arange(15_000), 60), rng.integers(0, 6000, 900_000)
counts = sparse.csr_matrix((np.ones(900_000), places), (15_000, 6000))
time.sleep(0.5)
features = counts.toarray()
train, valid = Rows(features[:14_000]), Rows(features[14_000:])
for step in range(40):
    batch = torch.from_numpy(features[rng.integers(0, 14_000, 64)])
    time.sleep(0.05)
"""
SPARSE = WORDS.replace("counts.toarray()", "counts").replace("14_000, 64)]", "14_000, 64)].toarray()")
IMAGES = """%%gpuprofile --display none
time.sleep(0.5)
images = torch.from_numpy(rng.integers(0, 256, (12_000, 3, 64, 64), dtype=np.uint8)).float()
for step in range(40):
    batch = images[torch.randint(len(images), (64,))] / 255
    time.sleep(0.05)
"""
BYTES = IMAGES.replace(".float()", "")
NEEDED = """%%gpuprofile --display none
time.sleep(0.5)
points = rng.standard_normal((40_000, 1000))
states = np.zeros((20_000, 3000), np.float32)
for step in range(40):
    states[step] = rng.standard_normal(3000)
    batch = points[rng.integers(0, 40_000, 64)]
    time.sleep(0.05)
"""
FREED = """
features = images = points = states = batch = counts = train = valid = pred = truth = None
import ctypes, gc
gc.collect()
ctypes.CDLL(None).malloc_trim(0)
"""
TELL = """
import json, gpuprof
run = gpuprof.last()
found = (*run.findings, *run.report_data.gate.withheld)
print(json.dumps([{"title": each.title, "lines": each.where.lines, "change": each.change} for each in found
                  if each.rule == "held_beyond_need"]))
del run, found
"""


def told(kernel: LiveKernel, cell: str) -> list[dict[str, Any]]:
    ran = kernel.run(cell)
    assert not ran.failed, ran.traceback
    shown = kernel.run(TELL)
    assert not shown.failed, shown.traceback
    kernel.run(FREED)
    found: list[dict[str, Any]] = json.loads(shown.stream("stdout"))
    return found


def test_arrays_that_hold_more_than_they_say(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(SETUP).failed
        for cell, title, lines, change in (
            (REPORT, "`p` and `t` hold", [3, 4], "np.bincount(truth * k + pred"),
            (WORDS, "`features` holds", [10], "leave out `.toarray()` at line 10"),
            (IMAGES, "of `float32` that would fit in `uint8`", [3], "`x.to(torch.uint8)`"),
        ):
            (finding,) = told(kernel, cell)
            assert title in finding["title"] and change in finding["change"]
            assert finding["lines"] == lines
        for cell in (COUNTED, SPARSE, BYTES, NEEDED):
            assert told(kernel, cell) == []
