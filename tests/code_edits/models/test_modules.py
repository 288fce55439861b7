from __future__ import annotations

import functools

import pytest
import torch

from gpuprof.code_edits.models.modules import compile_model, compile_with_graphs, lay_out_channels_last, lay_out_model
from tests.code_edits.executed import TRAINING, assert_rest_is_kept, line_of, run


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


def test_what_is_slow_must_be_the_model() -> None:
    model, backward, step = (line_of(TRAINING, text) for text in ("out = model(x)", "loss.backward()", "opt.step()"))
    assert compile_model(TRAINING, (model, backward)) == compile_model(TRAINING)
    assert compile_model(TRAINING, (backward,)) is None
    assert compile_model(TRAINING, (model, step)) is None
    assert compile_model(TRAINING.replace("model.to( device )", "nn.DataParallel(model)")) is None


DROPPING = TRAINING.replace("zero_grad(set_to_none=False)", "zero_grad()")


def test_graphs_where_nothing_outlives_a_round() -> None:
    after = compile_with_graphs(DROPPING)
    assert after is not None and 'model.compile(mode="reduce-overhead")\n' in after
    evaluating = DROPPING.replace("    loss.backward()\n    opt.step()\n", "")
    assert compile_with_graphs(evaluating) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("opt.zero_grad()", "opt.zero_grad(set_to_none=False)"),
        ("    opt.zero_grad()", "    if total > 1:\n        opt.zero_grad()"),
        ("losses.append(loss.item())", "losses.append(out)"),
        ("print(total", "print(out, total"),
        ("loss = criterion(out, y)", "loss = criterion(out, y) + criterion(model(-x), y)"),
        ("for x, y in loader:", "x, y = data[:4]\nif True:"),
    ],
)
def test_doubt_gives_no_graphs(old: str, new: str) -> None:
    cell = DROPPING.replace(old, new)
    assert cell != DROPPING and compile_with_graphs(cell) is None


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


def test_the_model_alone_gets_the_layout() -> None:
    after = lay_out_model(IMAGES)
    assert after is not None and after.count("memory_format") == 1
    assert_rest_is_kept(IMAGES, after)
    before, changed = run(IMAGES), run(after)
    assert changed["model"][0].weight.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(changed["grad"], before["grad"])
    assert lay_out_model(after) is None


EARLIER = """\
for x, y in DataLoader(images, 4):
    optimizer.zero_grad()
    x = x.to(device)
    loss = criterion(net(x), y.to(device))
    loss.backward()
    optimizer.step()
"""


def test_a_model_of_an_earlier_cell_by_the_name_that_the_run_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    known = ("net", "other")
    for edit in (compile_model, compile_with_graphs, lay_out_model, lay_out_channels_last):
        assert edit(EARLIER) is None
    compiled, graphs = compile_model(EARLIER, known=known), compile_with_graphs(EARLIER, known)
    assert compiled == f"net.compile()\n{EARLIER}"
    assert graphs == f'net.compile(mode="reduce-overhead")\n{EARLIER}'
    assert lay_out_model(EARLIER, known) is None  # it says nothing of torch
    says = EARLIER.replace("criterion(", "torch.nn.functional.cross_entropy(")
    batches = lay_out_channels_last(says, known)
    assert batches is not None and "x = x.to(device, memory_format=torch.channels_last)" in batches
    losses = []
    for cell in (says, compile_model(says, known=known), lay_out_model(says, known), batches):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 8), torch.nn.Flatten())
        assert cell is not None
        result = run(cell, net=net, optimizer=torch.optim.SGD(net.parameters(), lr=0.1))
        losses.append(result["loss"].item())
    assert losses == pytest.approx([losses[0]] * 4, rel=1e-4)


@pytest.mark.parametrize("known", [("net", "criterion"), ("model",), ()])
def test_doubt_about_the_name_changes_nothing(known: tuple[str, ...]) -> None:
    assert compile_model(EARLIER, known=known) is None
    assert compile_model(f"def train(net):\n    net(1)\n{EARLIER}", known=("net",)) is None


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
