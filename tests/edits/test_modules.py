from __future__ import annotations

import functools

import pytest
import torch

from gpuprof.edits.modules import checkpoint_module, compile_model, lay_out_channels_last
from tests.edits.executed import TRAINING, assert_rest_is_kept, run


def test_the_model_is_compiled_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    after = compile_model(TRAINING)
    assert after is not None and "model = model.to( device )\nmodel.compile()\nopt =" in after
    assert_rest_is_kept(TRAINING, after)
    # the default backend would build C++ for half a minute
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    before, changed = run(TRAINING), run(after)
    assert changed["losses"] == pytest.approx(before["losses"], rel=1e-5)
    assert list(changed["model"].state_dict()) == list(before["model"].state_dict())
    assert changed["model"]._compiled_call_impl is not None


def test_the_mode_is_passed_on() -> None:
    after = compile_model(TRAINING, "reduce-overhead")
    assert after is not None and 'model.compile(mode="reduce-overhead")\n' in after


IMAGES = """\
torch.manual_seed(1)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)).to(device)
model.train()
layouts = []
model[0].register_forward_hook(lambda m, i, o: layouts.append(i[0].stride(1) == 1))
for x, y in DataLoader(images, 4):
    x = x.to(device, non_blocking=True)
    y = y.to(device)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
grad = model[0].weight.grad
"""


def test_model_and_images_get_the_layout() -> None:
    after = lay_out_channels_last(IMAGES)
    assert after is not None and "y = y.to(device)\n" in after
    assert_rest_is_kept(IMAGES, after)
    before, changed = run(IMAGES), run(after)
    assert changed["layouts"] == [True] * 4 and before["layouts"] == [False] * 4
    assert changed["model"][0].weight.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(changed["grad"], before["grad"])


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


def test_a_part_of_the_model_is_checkpointed() -> None:
    after = checkpoint_module(CHECKPOINTED, "self.block")
    assert after is not None and "h = checkpoint(self.block, x, use_reentrant=False)  # large\n" in after
    assert "import os\nfrom torch.utils.checkpoint import checkpoint\n\nclass" in after
    assert_rest_is_kept(CHECKPOINTED, after)
    for left, right in zip(run(CHECKPOINTED)["grads"], run(after)["grads"], strict=True):
        assert torch.equal(left, right)


@pytest.mark.parametrize(
    "cell",
    [
        TRAINING.replace("model=nn", "other=nn").replace("model = model", "model = other"),
        TRAINING + "second = nn.Linear(2, 2)\nsecond.train()\nsecond(x)\n",
        TRAINING + "m = torch.compile(model)\n",
        TRAINING.replace("model = model.to( device )", "for i in range(2): model = model.to( device )"),
        TRAINING.replace("opt =", "model(1)\nmodel = model.cuda()\nopt ="),
        "for x in y:\n    model(x)\nmodel.eval()\n",
    ],
)
def test_doubt_compiles_nothing(cell: str) -> None:
    if cell.startswith("# %%gpuprofile") and "other=nn" in cell:
        assert compile_model(cell) is not None  # still one model
    else:
        assert compile_model(cell) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model(x)", "model(x + 1)"),
        ("x = x.to(device, non_blocking=True)", "pass"),
        ("x = x.to(device, non_blocking=True)", "x = x.cuda()"),
        ("model(x)", "model(x, y)"),
        ("model.train()", "model = model.to(memory_format=torch.channels_last)"),
    ],
)
def test_doubt_gives_no_layout(old: str, new: str) -> None:
    assert lay_out_channels_last(IMAGES.replace(old, new)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [("self.block(x)", "self.block(self.block(x))"), ("self.block(x)", "self.block(*x)"), ("self.block(x)", "x")],
)
def test_doubt_checkpoints_nothing(old: str, new: str) -> None:
    assert checkpoint_module(CHECKPOINTED.replace(old, new), "self.block") is None
