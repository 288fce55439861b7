"""What is attached again and again, by the text."""

from __future__ import annotations

import pytest

from gpuprof.analyses.loops.attachments import attachments

HOOKED = """
def rank(x):
    return x.svd()

def record(stats, module, inputs, output):
    stats.append(rank(output))

def report(model):
    for layer in model.modules():
        layer.register_forward_hook(partial(record, stats))

for epoch in range(9):
    train()
    report(model)
"""


def test_a_hook_that_a_function_of_the_loop_attaches() -> None:
    found = set(attachments(HOOKED))
    works = (2, 3, 5, 6)
    assert found == {
        ("layer.register_forward_hook", 10, works, (8, 10)),
        ("layer.register_forward_hook", 10, works, (9, 10)),
    }


@pytest.mark.parametrize(
    "body",
    [
        "    handle = layer.register_forward_hook(record)\n    train()\n    handle.remove()",
        "    log.addHandler(Handler(record))\n    train()\n    log.removeHandler(log.handlers[0])",
        "    layer.register_buffer('x', record)",
        "    layer.register_forward_hook(library.hook)",
        "    pass\nlayer.register_forward_hook(record)",
    ],
)
def test_what_is_taken_off_or_attached_once_or_not_of_the_text(body: str) -> None:
    assert not list(attachments(f"def record(*given):\n    return 1\n\nfor epoch in range(9):\n{body}\n"))


@pytest.mark.parametrize(
    ("call", "works"),
    [
        ("p.register_hook(lambda g: g.clamp(-1, 1))", (5,)),
        ("figure.canvas.mpl_connect('draw_event', on_draw)", (1, 2)),
        ("model.add_callback(self.on_draw)", (1, 2)),
    ],
)
def test_what_is_attached_in_each_turn(call: str, works: tuple[int, ...]) -> None:
    source = f"def on_draw(event):\n    return 1\n\nfor turn in range(9):\n    {call}\n"
    assert list(attachments(source)) == [(call.partition("(")[0], 5, works, (4, 5))]


def test_a_text_that_is_no_python_attaches_nothing() -> None:
    assert not list(attachments("for epoch in"))
