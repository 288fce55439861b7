"""The loops of a text: their lines, and where an iteration can be told from the next one."""

from __future__ import annotations

from gpuprof.analyses.loops.written_loops import written_loops

SOURCE = """%matplotlib inline
for epoch in range(3):
    with torch.no_grad():
        x = 1
        y = f(
            x)
    if x:
        z = 2
    while y:
        y = step(y)
for layer in layers:
    x = layer(x)
a = [net(x) for _ in range(60)]
"""


def test_loops_with_their_lines():
    found = [(loop.line, loop.first, loop.last, loop.cuts, loop.over_modules) for loop in written_loops("", SOURCE)]
    assert found == [
        (2, 3, 10, (4,), False),
        (11, 12, 12, (12,), True),
        (9, 10, 10, (10,), False),
        (13, 13, 13, (), False),
    ]


def test_a_line_is_held_by_the_body_of_its_own_file():
    loop = next(written_loops("a", SOURCE))
    assert loop.holds("a", 3) and loop.holds("a", 10)
    assert not loop.holds("", 3) and not loop.holds("a", 2) and not loop.holds("a", 11)


def test_what_is_not_python_has_none():
    assert not list(written_loops("", "for x in:"))
