"""Which results a text reads later than in the iteration that computes them."""

from __future__ import annotations

import pytest

from gpuprof.rules.reads.read_later import reads_later

LOOP = """best, best_state = 9.0, None
for epoch in range(30):
    v = validate(net, train(net))
    ranks = v.sort()
    if v < best:
        best, best_state = v, {
            k: t.clone() for k, t in net.state_dict().items()
        }
        top = v.sort()
END
"""


def read_later(source: str, mark: str, sources: tuple[str | None, ...] = (), lines: tuple[int, ...] = ()) -> bool:
    line = next(number for number, text in enumerate(source.splitlines(), 1) if mark in text)
    return reads_later([*sources, source], [*lines, line])


@pytest.mark.parametrize(
    ("end", "mark", "found"),
    [
        ("net.load_state_dict(best_state)", "t.clone()", True),
        ("", "t.clone()", False),
        ("", "top =", False),
        ("print(top)", "top =", True),
        ("print(ranks)", "ranks =", True),
        ("ranks = 3", "ranks =", False),
        ("    if epoch > 9:\n        print(top)\n        break", "top =", True),
        ("def late():\n    return v", "v = validate", True),
    ],
)
def test_names_of_a_loop(end: str, mark: str, found: bool) -> None:
    assert read_later(LOOP.replace("END", end), mark) is found


KEEPER = """class Stopper:
    def __call__(self, loss, net):
        self.seen = loss.exp()
        if loss < self.least:
            self.least, self.state = loss, copy(net.state_dict())
            self.other = copy(net.buffers())
def copy(state):
    return {k: v.clone() for k, v in state.items()}
def load(stopper, net):
    net.load_state_dict(stopper.state)
    print(stopper.seen)
def note(v, net):
    global kept, lost
    if v < 3:
        kept, local = copy(net), copy(net)
        lost = copy(net)
        notes["best"] = copy(net)
print(kept, notes)
"""


@pytest.mark.parametrize(
    ("mark", "found"),
    [
        ("self.least, self.state", True),
        ("self.other =", False),
        ("self.seen =", True),
        ("kept, local", True),
        ("lost = copy", False),
        ('notes["best"]', True),
    ],
)
def test_what_functions_keep_for_others(mark: str, found: bool) -> None:
    assert read_later(KEEPER, mark) is found
    # the line that computes it is that of the function it calls
    assert read_later(KEEPER, mark, (KEEPER,), (8,)) is found


def test_what_a_function_of_an_unknown_text_computes_may_be_something_else() -> None:
    source = LOOP.replace("END", "net.load_state_dict(best_state)\nprint(ranks)")
    assert read_later(source, "t.clone()", (None,), (40,))
    assert not read_later(source, "ranks =", (None,), (40,))


def test_a_result_of_a_function_that_returns_something_else() -> None:
    source = "def train(x):\n    ranks = x.sort()\n    return x\nfor x in xs:\n    y = train(x)\nprint(y)\n"
    assert not reads_later([source, source], [2, 5])
    assert reads_later([source, source], [3, 5])


def test_a_library_is_no_name_that_a_result_is_given_to() -> None:
    source = "for x in xs:\n    torch.sort(x)\n    kept.update(x)\nprint(torch.__version__, kept)\n"
    assert not reads_later([source], [2])
    assert reads_later([source], [3])


@pytest.mark.parametrize("source", [None, "for", "x = 3\n"])
def test_lines_of_no_statement(source: str | None) -> None:
    assert not reads_later([source], [7])
