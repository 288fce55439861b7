from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.models.biases import drop_bias_before_norm
from tests.code_edits.executed import assert_rest_is_kept, run

NORMED = """\
model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3))
for part in (model[0], model[3]):
    nn.init.constant_(part.weight, 0.1)  # so that every start is alike
nn.init.zeros_(model[3].state_dict()["bias"])
x = images[:4][0]
out = model(x)
"""
CLASS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(3, 4, 3)
        self.one_norm = nn.BatchNorm2d(4)
        self.two = nn.Conv2d(4, 4, 3)
        self.two_norm = nn.BatchNorm2d(4)
        self.last = nn.Conv2d(4, 4, 1)
    def forward(self, x):
        x = F.relu(self.one_norm(self.one(x)))
        x = self.two(x)
        x = self.two_norm(x)
        return self.last(x)
net = Net()
has_bias = [getattr(net, name).bias is not None for name in ("one", "two", "last")]
out = net(images[:4][0])
"""


def test_the_norm_takes_the_bias_away_anyway() -> None:
    after = drop_bias_before_norm(NORMED)
    assert after == NORMED.replace("padding=1)", "padding=1, bias=False)")
    assert after is not None
    torch.testing.assert_close(run(after)["out"], run(NORMED)["out"], rtol=1e-5, atol=1e-5)


def test_attributes_that_are_called_in_turn() -> None:
    cell = CLASS.replace("has_bias = [getattr(net, name).bias is not None for name in", "names = tuple(")
    cell = cell.replace('"last")]', '"last"))')
    after = drop_bias_before_norm(cell)
    assert after is not None and after.count("bias=False") == 2
    assert_rest_is_kept(cell, after)
    shown = after.replace("names = tuple(", "has_bias = [getattr(net, name).bias is not None for name in")
    assert run(shown.replace('"last"))', '"last")]'))["has_bias"] == [False, False, True]


@pytest.mark.parametrize(
    "model",
    [
        "nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.BatchNorm2d(4))",
        "nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4))",
        "nn.Sequential(nn.Conv2d(3, 4, 3, 1, 0, 1, 1, True), nn.BatchNorm2d(4))",
        "nn.Sequential(nn.Conv2d(*sizes), nn.BatchNorm2d(4))",
        "nn.Sequential(mine.Conv2d(3, 4, 3), nn.BatchNorm2d(4))",
        "nn.Sequential(nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4))",
        "[nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)]",
        "nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)); model.load_state_dict(state)",
        "nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)); model[0].bias.data.zero_()",
    ],
)
def test_doubt_keeps_the_bias(model: str) -> None:
    assert drop_bias_before_norm(f"model = {model}\n") is None


def test_a_list_that_becomes_a_sequence_counts() -> None:
    cell = "layers = []\nlayers += [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()]\nmodel = nn.Sequential(*layers)\n"
    after = drop_bias_before_norm(cell)
    assert after == cell.replace("Conv2d(3, 4, 3)", "Conv2d(3, 4, 3, bias=False)")
    assert after is not None and run(after)["model"][0].bias is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.one_norm(self.one(x))", "self.one_norm(self.one(x)) + self.one(x)"),
        ("self.one = nn.Conv2d(3, 4, 3)", "self.one = nn.Conv2d(3, 4, 3)\n        self.one = nn.Conv2d(3, 4, 3)"),
    ],
)
def test_a_convolution_that_is_used_otherwise_too_keeps_it(old: str, new: str) -> None:
    cell = CLASS.replace(old, new).replace(".bias is", ".weight is")
    after = drop_bias_before_norm(cell)
    assert after is not None and after.count("bias=False") == 1
