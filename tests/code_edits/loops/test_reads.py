from __future__ import annotations

import pytest

from gpuprof.code_edits.loops.reads import defer_reads
from tests.code_edits.executed import SET_UP, TRAINING, assert_rest_is_kept, run


def test_sums_and_lists_are_read_after_the_loop_and_are_the_same_to_the_last_bit() -> None:
    after = defer_reads(TRAINING, 3)
    assert after is not None
    loop = after[after.index("for x, y") : after.index("total = float")]
    assert ".item()" not in loop
    assert_rest_is_kept(TRAINING, after)
    before, changed = run(TRAINING), run(after)
    for name in ("total", "correct", "losses"):
        assert changed[name] == before[name]
        assert type(changed[name]) is type(before[name])
    assert all(type(loss) is float for loss in changed["losses"])


def test_reads_that_the_cell_does_not_show_leave_the_waits() -> None:
    assert defer_reads(TRAINING, 4) is None


EPOCHS = """\
model = nn.Linear(8, 4)
def evaluate(n):
    seen = 0.0
    for epoch in range(n):
        for i, (x, y) in enumerate(DataLoader(data, 16)):
            loss = F.cross_entropy(model(x), y)
            seen += loss.item() * x.size(0)
            if i % 2 == 0:
                print(loss.item())
    return seen / n
result = evaluate(2)
"""


def test_in_a_function_with_epochs_the_read_comes_after_the_outermost_loop() -> None:
    after = defer_reads(EPOCHS, 1)
    assert after is not None and "    seen = float(seen)\n    return seen / n" in after
    assert "print(loss.item())" in after
    assert run(after)["result"] == run(EPOCHS)["result"]


EVERY_SO_OFTEN = """\
model = nn.Linear(8, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
shown = []
for epoch in range(2):
    running_loss = 0.0
    for i, (x, y) in enumerate(DataLoader(data, 8)):
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
        running_loss += loss.item()
        if i % 4 == 3:
            shown.append(f"[{epoch + 1}, {i + 1}] loss: {running_loss / 4}")
            running_loss = 0.0
"""


def test_what_is_shown_every_so_often_is_read_there() -> None:
    after = defer_reads(EVERY_SO_OFTEN, 1)
    assert after is not None
    assert "running_loss += loss.detach().double()" in after
    assert "loss: {float(running_loss) / 4}" in after and "            running_loss = 0.0\n" in after
    assert run(after)["shown"] == run(EVERY_SO_OFTEN)["shown"]
    assert defer_reads(EVERY_SO_OFTEN.replace("if i % 4 == 3", "if i > 3"), 1) is None
    assert defer_reads(EVERY_SO_OFTEN.replace("{running_loss / 4}", "{running_loss=}"), 1) is None
    assert (
        defer_reads(EVERY_SO_OFTEN.replace("        running_loss = 0.0", "        running_loss = start()"), 1) is None
    )


NAMESAKES = """\
def evaluate(model):
    total = 0
    correct = 0
    with torch.no_grad():
        for x, y in DataLoader(data, 16):
            out = model(x)
            total += F.nll_loss(out.log_softmax(1), y, reduction="sum").item()
            pred = out.argmax(dim=1, keepdim=True)
            correct += pred.eq(y.view_as(pred)).sum().item()
    total /= len(data)
    return total, correct
def count(total):
    total += 1
    return total
result = evaluate(nn.Linear(8, 4))
"""


def test_namesakes_in_other_functions_are_others() -> None:
    after = defer_reads(NAMESAKES, 2)
    assert after is not None and "correct = int(correct)\n    total /= len(data)" in after
    assert run(after)["result"] == run(NAMESAKES)["result"]
    assert [type(each) for each in run(after)["result"]] == [float, int]


@pytest.mark.parametrize("device", ['"mps" if torch.backends.mps.is_available() else "cpu"', "torch.accelerator"])
def test_sums_of_floats_stay_where_float64_may_be_missing(device: str) -> None:
    assert defer_reads(f"device = {device}\n{EPOCHS}", 1) is None
    counting = NAMESAKES.replace("            total +=", "            loss =").replace(', reduction="sum").item()', ")")
    after = defer_reads(f"device = {device}\n{counting}", 1)
    assert after is not None and "correct = int(correct)" in after


def test_an_empty_loop_still_gives_the_beginning() -> None:
    after = defer_reads(EPOCHS.replace("evaluate(2)", "evaluate(0) if 0 else 0"), 1)
    assert after is not None
    namespace = run(after)
    namespace["n"] = 0
    exec("data = []\nimport torch.utils.data\nempty = [evaluate(1) for _ in ()]", namespace)
    exec(f"{SET_UP}\ndef DataLoader(*_): return []\n", namespace)
    assert namespace["evaluate"](1) == 0.0


LOOP = "loss = F.cross_entropy(model(x), y)\n    loss.backward()\n"


@pytest.mark.parametrize(
    "cell",
    [
        # read in every step
        f"t = 0.0\nfor x, y in loader:\n    {LOOP}    t += loss.item()\n    print(t)\n",
        f"ts = []\nfor x, y in loader:\n    {LOOP}    ts.append(loss.item())\n    bar.set(ts[-1])\n",
        f"t = 0.0\nfor x, y in loader:\n    {LOOP}    t += loss.item()\n    bar.set(loss=loss.item())\n",
        f"t = 0.0\nfor x, y in loader:\n    {LOOP}    t += loss.item()\n    p = out.cpu()\n",
        f"t = 0.0\nfor x, y in loader:\n    {LOOP}    t += loss.item()\n    p = float(out)\n",
        f"for x, y in loader:\n    {LOOP}    if loss.item() > 3: break\n",
        # begun elsewhere, twice, or by something unknown
        f"for x, y in loader:\n    {LOOP}    t += loss.item()\n",
        f"t = 0.0\nt = start()\nfor x, y in loader:\n    {LOOP}    t += loss.item()\n",
        f"ts = [1]\nfor x, y in loader:\n    {LOOP}    ts.append(loss.item())\n",
        f"ts = []\nfor x, y in loader:\n    {LOOP}    ts.append(loss.item())\n    ts = ts[-9:]\n",
        f"t = 0.0\ndef show(): print(t)\nfor x, y in loader:\n    {LOOP}    t += loss.item()\n",
        "t = 0.0\ndef go():\n  global t\n  for x in y:\n        loss = F.mse_loss(x, 1)\n        t += loss.item()\n",
        # not surely a tensor of torch, or a view of a larger one
        "t = 0.0\nfor x in data:\n    t += x.mean().item()\n",
        "ts = []\nfor x in y:\n    loss = F.mse_loss(x, x)[0]\n    loss.backward()\n    ts.append(loss.item())\n",
        f"t = 0.0\nfor x, y in loader:\n    {LOOP}    t += loss.item() * weight(x)\n",
        f"t = 0.0\nfor x, y in loader:\n    {LOOP}    t -= loss.item()\n",
        # nothing to do
        "x = loss.item()\n",
        "for x in y:\n    pass\n",
    ],
)  # fmt: skip
def test_doubt_gives_no_change(cell: str) -> None:
    assert defer_reads(cell, 1) is None
