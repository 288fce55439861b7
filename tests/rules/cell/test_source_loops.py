"""Loops over the samples that a module of the cell makes, found by what they name."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.source_loops import independent_lines

TURN = ["aten::linear", *["aten::matmul", "aten::linear", "aten::silu"] * 3, "aten::mean", "aten::linear"]
CELL = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(16, 32)
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(3))
        self.head = nn.Linear(32, 1)

    def energy(self, molecule):
        atoms, bonds = molecule
        hidden = self.embed(atoms)
        for layer in self.layers:
            hidden = nn.functional.silu(layer(bonds @ hidden))
        return self.head(hidden.mean(dim=0))

    def forward(self, atoms, bonds):
        return torch.cat(list(map(self.energy, zip(atoms, bonds))))

model = Net().to(device)
for step in range(100):
    loss = nn.functional.mse_loss(model(atoms[step], bonds[step]), y[step])
    loss.backward()
"""
MAPPED = "list(map(self.energy, zip(atoms, bonds)))"
LOOP = """\
rows = []
        for molecule in zip(atoms, bonds):
            rows.append(self.energy(molecule))
        return torch.cat(rows)
"""
ONE = "hidden = nn.functional.silu(layer(bonds @ hidden))"


@pytest.mark.parametrize(
    ("written", "instead", "lines"),
    [
        (MAPPED, MAPPED, (16,)),
        (MAPPED, "[self.energy(each) for each in zip(atoms, bonds)]", (16,)),
        (MAPPED, "[self.energy((atoms[i], bonds[i])) for i in range(len(atoms))]", (16,)),
        (MAPPED, "list(map(lambda each: self.energy(each), zip(atoms, bonds)))", (16,)),
        (f"return torch.cat({MAPPED})", LOOP, (17,)),
        ("for layer in self.layers:", "for number, layer in enumerate(self.layers):", (16,)),
        ("loss.backward()", "loss.backward()\n    energies = [model.energy(each) for each in pairs]", (16, 22)),
        (ONE, f"{ONE}\n            self.last = hidden", ()),
        (ONE, f"{ONE}\n            self.seen.append(hidden)", ()),
        (ONE, "hidden = nn.functional.silu(self.cell(bonds @ hidden))", ()),
        ("nn.ModuleList(nn.Linear(32, 32)", "nn.ModuleList(Mine(32, 32)", ()),
        ("class Net", "class Net(nn.Module):\n    def energy(self, a):\n        return a\nclass Net", ()),
        ("model = Net()", "class Other(Net):\n    pass\nmodel = Other()", ()),
        (MAPPED, "self.gather(atoms, bonds)", ()),
        ("nn.functional.silu", "torch.tanh", ()),
        ("self.embed = nn.Linear(16, 32)", "self.embed = nn.Linear(16, 32)\n        self.embed = Mine()", ()),
    ],
    ids=[
        "map",
        "a comprehension",
        "by index",
        "a function without a name",
        "a loop",
        "numbered layers",
        "twice",
        "a state",
        "a memory",
        "a module that is not known",
        "layers that are not known",
        "a class with two texts",
        "a method that may be another",
        "no loop",
        "another function",
        "a module with two meanings",
    ],
)
def test_a_loop_over_the_samples_is_found_in_a_module(written: str, instead: str, lines: tuple[int, ...]) -> None:
    assert written in CELL
    assert independent_lines(CELL.replace(written, instead, 1), TURN) == lines


RECURRENT = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(8, 8)
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(12)])

    def forward(self, x):
        h, rows = x.new_zeros(8), []
        for step in x:
            h = self.cell(step, h)
            rows.append(h)
        return torch.stack(rows)

    def deep(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x

    def each(self, x):
        return torch.stack([layer(part) for layer, part in zip(self.layers, x)])

    def chained(self, x):
        return functools.reduce(lambda h, part: torch.tanh(h + part), x)
"""


@pytest.mark.parametrize(
    "turn",
    [["aten::gru_cell"], ["aten::linear", "aten::relu"], ["aten::linear"], ["aten::add", "aten::tanh"]],
    ids=["over time", "layers", "layers and inputs", "a reduction"],
)
def test_time_and_layers_are_never_found(turn: list[str]) -> None:
    assert independent_lines(RECURRENT, turn) == ()


def test_layers_that_a_loop_makes_may_run_any_number_of_times() -> None:
    cell = (
        "net = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(4)], nn.Linear(8, 1))\n"
        "out = torch.stack([net(each) for each in x])\n"
    )
    assert independent_lines(cell, ["aten::linear", "aten::tanh"] * 4 + ["aten::linear"]) == (2,)
    assert independent_lines(cell, ["aten::linear", "aten::tanh", "aten::relu"]) == ()


def test_a_text_too_deep_to_read_says_nothing() -> None:
    assert independent_lines("[f(" + "+".join(["x"] * 3000) + ") for x in y]", ["aten::add"] * 3) == ()
