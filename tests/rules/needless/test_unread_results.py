"""What is said of results that nobody reads, in cells that really run under the close look."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.needless.unread_results import UnreadResults
from tests.rules.needless.test_product_order import looked_cell
from tests.rules.needless.unread_runs import even

pytest.importorskip("torch")

# in each looked-at iteration the copy of before is replaced; the loop itself is not run
BEST = """import copy, torch; torch.manual_seed(0)
net = torch.nn.Linear(16, 16)
x, best, losses, epochs = torch.rand(4, 16), {}, [], 0
def snapshot(net):
    return {k: v.clone() for k, v in net.state_dict().items()}
def epoch():
    global kept
    losses.append(net(x).sum())
    if len(losses) % 1 == 0:
        kept = COPY
for _ in range(epochs):
    epoch()
END
"""


def told(copy: str, end: str) -> Finding | None:
    found = UnreadResults().check(Results(even(looked_cell(BEST.replace("COPY", copy).replace("END", end), "epoch()"))))
    assert found is None or isinstance(found, Finding)
    return found


@pytest.mark.parametrize("copy", ["copy.deepcopy(net.state_dict())", "snapshot(net)"])
def test_a_copy_of_the_best_weights_is_read_after_the_loop(copy: str) -> None:
    assert told(copy, "if epochs:\n    net.load_state_dict(kept)") is None
    found = told(copy, "")
    assert found is not None and found.where.lines == (5 if "snapshot" in copy else 10,)
