"""Figures that a cell does not close, with the notebook's own backend and with one that only draws files: a real
kernel."""

from __future__ import annotations

import json

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel
DRAWN = """%%gpuprofile --display none
import io
import matplotlib.pyplot as plt
x = torch.randn(256, 256)
for step in range(12):
    x = torch.tanh(x @ x)
    fig = plt.figure(figsize=(2, 2))
    plt.plot(x[0])
    fig.savefig(io.BytesIO(), format="png")
time.sleep(0.5)
"""
CLOSED = DRAWN.replace("\ntime", "\n    plt.close(fig)\ntime")
ONE_BEFORE = "%matplotlib agg\nimport matplotlib.pyplot as plt; plt.figure()"


def figures(kernel: LiveKernel, cell: str) -> tuple[list[int], list[str]]:
    """Those left and those open at a time, and what is found of them."""
    ran = kernel.run(cell)
    assert not ran.failed, ran.traceback
    shown = kernel.run(
        "import json; seen = gpuprof.last().trace.context.figures\n"
        "found = gpuprof.last().to_dict()['findings']\n"
        "print(json.dumps([[seen.left, seen.most], "
        "[each['title'] for each in found if each['rule'] == 'figures_left_open']]))"
    )
    assert not shown.failed, shown.traceback
    counted, titles = json.loads(shown.stream("stdout"))
    return counted, titles


def test_what_a_cell_opens_and_leaves_open(kernel: LiveKernel) -> None:
    assert kernel.value("'matplotlib.pyplot' in __import__('sys').modules") == "False"
    # the inline backend shows and closes them before the cell has ended for us
    assert figures(kernel, DRAWN) == ([0, 12], [])
    assert not kernel.run(ONE_BEFORE).failed
    assert figures(kernel, DRAWN) == ([12, 12], ["The cell leaves 12 matplotlib figures open"])
    (left, most), titles = figures(kernel, CLOSED)
    assert left == 0 and most <= 1 and titles == []
