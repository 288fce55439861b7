from __future__ import annotations

import pytest

from gpuprof.code_edits.loops.summed_losses import backward_for_each
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

SUMMED = """\
model = nn.Linear(8, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
shown = []
for x, y in DataLoader(data, batch_size=32):
    opt.zero_grad()
    loss = 0.0
    for part, of in zip(x.split(8), y.split(8)):  # in parts
        # the loss of one part
        loss = loss + criterion(model(part), of) / 4
    loss.backward()
    opt.step()
    shown.append(loss.item())
weight = model.weight.detach()
"""
LINES = line_of(SUMMED, "loss = loss +"), line_of(SUMMED, "loss.backward()")
PART = "        loss = loss + criterion(model(part), of) / 4\n"
AFTER = """\
        loss_part = criterion(model(part), of) / 4
        loss_part.backward()
        loss = loss + loss_part.detach()
"""


def edited(cell: str) -> str | None:
    return backward_for_each(cell, line_of(cell, "criterion(model"), line_of(cell, ".backward("))


def test_each_part_goes_back_by_itself() -> None:
    after = backward_for_each(SUMMED, *LINES)
    assert after == SUMMED.replace(PART, AFTER).replace("    loss.backward()\n", "")
    assert_rest_is_kept(SUMMED, after)
    before, changed = run(SUMMED), run(after)
    assert changed["shown"] == pytest.approx(before["shown"], rel=1e-5)
    assert changed["weight"].numpy() == pytest.approx(before["weight"].numpy(), rel=1e-4)


def test_an_augmented_sum_that_begins_with_a_tensor() -> None:
    cell = SUMMED.replace("loss = 0.0", "loss = torch.zeros((), device=device)").replace("loss = loss +", "loss +=")
    after = backward_for_each(cell, *LINES)
    assert after is not None and "        loss += loss_part.detach()\n" in after
    assert run(after)["shown"] == pytest.approx(run(SUMMED)["shown"], rel=1e-5)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # a sum that does not begin at zero has a gradient of its own
        ("loss = 0.0", "loss = model.weight.square().sum()"),
        # gradients would be zeroed after the parts have gone back
        ("    loss.backward()", "    opt.zero_grad()\n    loss.backward()"),
        ("    opt.zero_grad()\n", ""),
        # the sum is changed, or read, before it goes back
        ("    loss.backward()", "    loss = loss / 2\n    loss.backward()"),
        ("        # the", "        print(loss)\n        # the"),
        ("loss.backward()", "loss.backward(retain_graph=True)"),
        ("loss.backward()", "(loss / 2).backward()"),
        ("loss.backward()", "scaler.scale(loss).backward()"),
        ("loss + criterion", "loss + loss + criterion"),
        ("loss + criterion(model(part), of)", "loss + criterion(model(part), of) * loss"),
        ("loss = loss + criterion", "loss = loss - criterion"),
        ("model = nn.Linear(8, 4)", "model = nn.parallel.DistributedDataParallel(nn.Linear(8, 4))"),
        # the loop has more to do with gradients
        ("        # the", "        opt.step()\n        # the"),
        ("loss = 0.0", "loss = loss_part = 0.0"),
    ],
)
def test_what_is_not_decided_by_the_text_is_left(old: str, new: str) -> None:
    cell = SUMMED.replace(old, new)
    assert cell != SUMMED
    assert edited(cell) is None


def test_lines_that_are_something_else() -> None:
    assert backward_for_each(SUMMED, LINES[0], LINES[0]) is None
    assert backward_for_each(SUMMED, 1, LINES[1]) is None
    assert backward_for_each("for x in (", 1, 1) is None
