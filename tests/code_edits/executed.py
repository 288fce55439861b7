"""Small real cells, run before and after an edit, on the CPU."""

from __future__ import annotations

from typing import Any

from gpuprof.code_edits.syntax.diff import changed, unified_diff

SET_UP = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
device = "cpu"
data = TensorDataset(torch.randn(64, 8), torch.arange(64) % 4)
images = TensorDataset(torch.randn(16, 3, 8, 8), torch.arange(16) % 4)
criterion = nn.CrossEntropyLoss()
"""

TRAINING = """\
# %%gpuprofile --steps 20
# one epoch   (odd   spacing, kept)
loader = DataLoader(data,batch_size = 16 ,)
model=nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
model = model.to( device )
opt = torch.optim.Adam(model.parameters(), lr=1e-2)  # the optimizer
total, correct, losses = 0.0, 0, []
for x, y in loader:
    x, y = x.to(device), y.to(device)
    out = model(x)   # forward
    loss = criterion(out, y)

    opt.zero_grad(set_to_none=False)
    loss.backward()
    opt.step()
    total += loss.item()
    correct += (out.argmax(1) == y).sum().item()
    losses.append(loss.item())
print(total / len(loader), correct, losses[-1])
"""


def run(source: str, **names: Any) -> dict[str, Any]:
    """The namespace after the cell; IPython's own syntax must not be in it."""
    namespace: dict[str, Any] = {}
    exec(SET_UP, namespace)
    namespace.update(names)
    exec(compile(source, "<cell>", "exec"), namespace)
    return namespace


def line_of(source: str, text: str) -> int:
    """The number, from 1, of the one line that contains `text`."""
    (found,) = [number for number, line in enumerate(source.split("\n"), 1) if text in line]
    return found


def removed_and_added(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines of the diff, but for empty ones."""
    lines = [line for line in unified_diff(before, after).split("\n")[2:] if line[1:].strip()]
    return tuple([line[1:] for line in lines if line.startswith(sign)] for sign in "-+")  # type: ignore[return-value]


def assert_rest_is_kept(before: str, after: str) -> None:
    """At most four lines go or change; those that are only moved to the right keep their text; the diff applies."""
    removed, added = removed_and_added(before, after)
    assert removed or added
    assert len([line for line in removed if line.strip() not in {each.strip() for each in added}]) <= 4
    assert changed(before, unified_diff(before, after)) == after
