from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.models.checkpoints import checkpoint_blocks
from tests.code_edits.executed import assert_rest_is_kept, run

CHECKPOINTED = """\
# a comment
import os

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.head = nn.Sequential(nn.Linear(8, 8), nn.ReLU()), nn.Linear(8, 4)
    def forward(self, x):
        h = self.block(x)  # large
        return self.head(h)
torch.manual_seed(1)
net = Net()
x, y = data[:16]
loss = criterion(net(x), y)
loss.backward()
grads = [p.grad for p in net.parameters()]
"""


REPEATED = CHECKPOINTED.replace("nn.Sequential(nn.Linear(8, 8), nn.ReLU())", "nn.ModuleList([nn.Linear(8, 8)] * 3)")
REPEATED = REPEATED.replace(
    "        h = self.block(x)  # large\n",
    "        h = x\n        for i, part in enumerate(self.block):\n            h = part(h)  # large\n",
)


def test_repeated_blocks_are_checkpointed_one_by_one() -> None:
    after = checkpoint_blocks(REPEATED, {"block", "head"})
    assert after is not None and "h = checkpoint(part, h, use_reentrant=False)  # large\n" in after
    assert_rest_is_kept(REPEATED, after)
    for left, right in zip(run(REPEATED)["grads"], run(after)["grads"], strict=True):
        assert torch.equal(left, right)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("enumerate(self.block)", "enumerate(blocks)"),
        ("enumerate(self.block)", "enumerate(self.block, 1)"),
        ("h = part(h)", "h = h + part(part(h))"),
        ("h = part(h)", "h = part.forward(h)"),
        ("def forward", "def features"),
        ("        return self.head(h)", "        for part in self.block: h = part(h)\n        return self.head(h)"),
        ("# a comment", "from torch.utils import checkpoint"),
    ],
)
def test_doubt_checkpoints_no_blocks(old: str, new: str) -> None:
    cell = REPEATED.replace(old, new)
    assert cell != REPEATED and checkpoint_blocks(cell) is None


ROUNDS = """\
torch.manual_seed(1)
blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)) for _ in range(3))
for x, y in DataLoader(data, 16):
    h = x
    for block in blocks:
        h = block(h)  # kept
    loss = criterion(h, y)
    loss.backward()
grads = [p.grad for p in blocks.parameters()]
"""


def test_blocks_of_a_round_of_training_too() -> None:
    after = checkpoint_blocks(ROUNDS, {"blocks"})
    assert after is not None and "        h = checkpoint(block, h, use_reentrant=False)  # kept\n" in after
    assert_rest_is_kept(ROUNDS, after)
    for left, right in zip(run(ROUNDS)["grads"], run(after)["grads"], strict=True):
        assert torch.equal(left, right)
    for old, new in (
        ("    loss.backward()\n", ""),
        ("h = block(h)", "h = block(x)"),
        ("h = block(h)", "h += block(h)"),
    ):
        assert checkpoint_blocks(ROUNDS.replace(old, new)) is None


def test_blocks_must_be_a_part_of_the_model_that_ran() -> None:
    assert checkpoint_blocks(REPEATED, {"encoder"}) is None
