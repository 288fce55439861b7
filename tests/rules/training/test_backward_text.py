"""What backward passes start from, in the words of the cell."""

from __future__ import annotations

import pytest

from gpuprof.rules.training.backward_text import added_up, gradient_of

LOOP = """for name, loss in losses.items():
    (w[name] * loss).backward(retain_graph=True)
"""


@pytest.mark.parametrize(
    ("source", "lines", "words"),
    [
        (
            LOOP,
            (2,),
            "`sum(w[name] * loss for (name, loss) in losses.items()).backward()` in place of the loop in line 1",
        ),
        (
            f"{LOOP}    print(name)\n",
            (2,),
            "add up `w[name] * loss` in the loop in line 1, and call `.backward()` on the sum after it",
        ),
        ("a.backward(retain_graph=True)\nb.backward()\n", (1, 2), "`(a + b).backward()`"),
        ("a.backward(weights)\nb.backward()\n", (1, 2), ""),
        ("a.backward(gradient=weights)\nb.backward()\n", (1, 2), ""),
        ("a.backward()\n", (1,), ""),
        ("while True:\n    a.backward()\n", (2,), ""),
        (LOOP.replace("w[name]", "w" * 80), (2,), ""),
        (LOOP, (1,), ""),
        (LOOP, (), ""),
        ("for", (1,), ""),
    ],
)
def test_how_losses_become_one(source: str, lines: tuple[int, ...], words: str) -> None:
    assert added_up(source, lines) == words


def test_the_sum_gives_the_same_gradients() -> None:
    torch = pytest.importorskip("torch")
    both = []
    for source in (LOOP, added_up(LOOP, (2,)).split("`")[1]):
        x = torch.arange(4.0, requires_grad=True)
        y = (x * 2).sin()
        exec(source, {"losses": {"a": y.sum(), "b": (y * y).sum()}, "w": {"a": 0.5, "b": 3.0}})
        both.append(x.grad)
    assert torch.allclose(*both)


ATTACK = """def attack(x):
    x = x.detach().requires_grad_()
    loss(net(x), y).backward()
    return x + x.grad.sign()
for p in net.parameters():
    p.grad = None
    print(p.grad)
"""


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (ATTACK, ("loss(net(x), y)", "x")),
        (ATTACK.replace("return x", "return z.grad, x"), None),
        (ATTACK.replace("x.grad.sign()", "1"), None),
        (ATTACK.replace("x.grad.sign()", "self.x.grad"), None),
        (ATTACK.replace(".backward()", ".backward(ones)"), None),
        (ATTACK.replace("return", "return ("), None),
    ],
)
def test_whose_gradient_is_read(source: str, found: tuple[str, str] | None) -> None:
    assert gradient_of(source, 3) == found
