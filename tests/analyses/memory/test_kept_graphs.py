"""Lines of a cell that keep losses with their graphs."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.kept_graphs import KeptGraphs, summing_lines
from gpuprof.model.context import Cell
from gpuprof.model.memory import HeldTensors
from tests.support.trace_builder import TraceBuilder

LOOP = """# %%gpuprofile
%matplotlib inline
losses, total = [], 0
for x, y in loader:
    loss = criterion(net(x), y)
    loss.backward()
    {line}
"""


def kept(source: str | None, *held: HeldTensors) -> KeptGraphs:
    builder = TraceBuilder().context(cell=Cell(source=source) if source else None, held=held)
    return Results(builder.build()).get(KeptGraphs)


@pytest.mark.parametrize(
    ("line", "container"),
    [
        ("losses.append(loss)", "losses"),
        ("losses.append((step, loss))", "losses"),
        ("total += loss", "total"),
        ("total = total + loss", "total"),
        ("total = loss + total", "total"),
        ("self.history['loss'].append(loss)", "self.history['loss']"),
        ("if step % 10 == 0: losses.append(loss)", "losses"),
        ("meter[0] += loss", "meter[0]"),
        ("held_out += torch.nn.functional.cross_entropy(net(z), y)", "held_out"),
        ("held_out += cross_entropy_with_logits(net(z), y)", "held_out"),
        ("held_out += compute_loss(net(z), y)", "held_out"),
        ("held_out += loss_fn(net(z), y)", "held_out"),
        ("held_out += MSELoss(net(z), y)", "held_out"),
        ("with torch.autocast('cuda'): held_out += criterion(net(z), y)", "held_out"),
        ("with timer, torch.enable_grad(): held_out += criterion(net(z), y)", "held_out"),
        ("losses.add(loss)", "losses"),
        ("losses.insert(0, loss)", "losses"),
        ("losses.appendleft(loss)", "losses"),
    ],
)
def test_a_line_that_keeps_the_graph(line: str, container: str) -> None:
    found = kept(LOOP.format(line=line))
    assert (found.lines, found.containers) == ((7,), (container,))


@pytest.mark.parametrize(
    "line",
    [
        "losses.append(loss.item())",
        "losses.append(loss.detach())",
        "losses.append(float(loss))",
        "total += loss.item()",
        "total += float(loss)",
        "losses.append(x)",
        "loss += penalty",
        "print(loss)",
        "losses.append(len(losses))",
        "held_out += criterion(net(z), y).detach()",
        "held_out += float(criterion(net(z), y))",
        "with torch.no_grad(): held_out += criterion(net(z), y)",
        "with torch.inference_mode(): held_out += criterion(net(z), y)",
        "with timer, torch.no_grad(): held_out += criterion(net(z), y)",
        "losses.remove(loss)",
        "both = 0; both += criterion(net(z), y)",
        "steps += count(y)",
    ],
)
def test_a_line_that_does_not(line: str) -> None:
    assert kept(LOOP.format(line=line)).lines == ()


def test_a_scaled_loss_is_a_loss() -> None:
    source = "while True:\n    scaler.scale(loss).backward()\n    seen.append(loss)\n"
    assert kept(source).lines == (3,)


def test_a_loss_that_goes_backward_elsewhere_is_not_known() -> None:
    assert kept("for x in data:\n    losses.append(net(x))\n").lines == ()


def test_what_the_notebook_held_picks_the_container() -> None:
    source = LOOP.format(line="losses.append(loss)\n    short.append(loss)")
    held = HeldTensors(name="losses", kind="global", device="cuda:0", bytes=800, tensors=200, graphs=200)
    found = kept(source, held, HeldTensors(name="x", kind="global", device="cuda:0", bytes=8, tensors=1, graphs=1))
    assert (found.lines, found.holders) == ((7,), {"losses": 200})


def holding(number: int) -> HeldTensors:
    return HeldTensors(name="shown", kind="global", device="cpu", bytes=800, tensors=number, graphs=number)


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("shown.append(net(x)[:4])", (2,)),
        ("shown.train.append(net(x))", (2,)),
        ("shown['last'].append(net(x))", (2,)),
        ("shown[step] = net(x)", (2,)),
        ("shown += [net(x)]", (2,)),
        ("shown.add(net(x))", (2,)),
        ("shown.insert(0, net(x))", (2,)),
        ("shown.appendleft(net(x))", (2,)),
        ("shown.extend(net(x))", (2,)),
        ("shown.update(last=net(x))", (2,)),
        ("shown.setdefault(step, net(x))", (2,)),
        ("shown.put(net(x))", (2,)),
        ("shown.remove(net(x))", ()),
        ("other.append(net(x))", ()),
        ("print(shown)", ()),
    ],
)
def test_the_lines_that_fill_a_holder(line: str, lines: tuple[int, ...]) -> None:
    source = f"for x in data:\n    {line}\nshown.append(last)\n"
    assert kept(source, holding(40)).filling == lines
    assert kept(source).filling == ()


@pytest.mark.parametrize(
    ("line", "sums"),
    [
        ("shown += net(x)", True),
        ("shown = shown + net(x)", True),
        ("shown = net(x) + shown", True),
        ("shown -= net(x)", False),
        ("shown = shown - net(x)", False),
        ("other += shown", False),
        ("other = shown + net(x)", False),
        ("shown = net(x)", False),
        ("shown = other + net(x)", False),
    ],
)
def test_the_lines_that_add_to_a_name(line: str, sums: bool) -> None:
    source = f"for x in data:\n    {line}\nshown += last\n"
    assert list(summing_lines(source, "shown")) == [2] * sums


def test_about_as_many_graphs_as_steps_are_one_of_each() -> None:
    found = kept(None, holding(90))
    assert [found.keeping_each(steps) for steps in (100, 101, 0)] == [{"shown": 90}, {}, {}]


@pytest.mark.parametrize("source", [None, "for x in", "x = 1", "!ls\n\x00"])
def test_no_source_no_lines(source: str | None) -> None:
    assert kept(source).lines == ()
