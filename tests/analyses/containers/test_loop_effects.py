"""What statements read from before them, bind, change, call and train, with the functions of the text they call."""

from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.containers.loop_effects import Effects, effects_of, functions_of, given_to

FUNCTIONS = """
def learn(model, batch):
    loss = model(batch).mean()
    loss.backward()
    opt.step()

def run(model, x, *rest, scale=1, **more):
    return model(x) * scale + offset

def fill(rows, x):
    rows.append(x)

def fill_both(a, /, b):
    fill(a, b)
    seen.append(b)

def count(x):
    global total
    total = total + x

def again(x):
    return again(x - 1)

def one(x):
    two(x)

def two(x):
    three(x)

def three(x):
    four(x)

def four(x):
    five(x)

def five(x):
    deep.append(x)

def twice(x):
    return x

def twice(x):
    return other
"""
KNOWN = functions_of(ast.parse(FUNCTIONS))


def found(text: str, bound: set[str] | None = None) -> Effects:
    return effects_of(ast.parse(text).body, KNOWN, bound)


def as_text(effects: Effects) -> dict[str, str]:
    sets = {name: " ".join(sorted(getattr(effects, name))) for name in ("reads", "writes", "called", "run", "changed")}
    return {name: text for name, text in sets.items() if text} | ({"trains": "yes"} if effects.trains else {})


def _both(names: str) -> dict[str, str]:
    return {"called": names, "run": names}


def test_functions_that_the_text_defines_once() -> None:
    assert set(KNOWN) == {
        *("learn", "run", "fill", "fill_both", "count", "again", "one", "two", "three", "four", "five"),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = x + 1", {"reads": "x", "writes": "y"}),
        ("x = 1\ny = x", {"writes": "x y"}),
        ("y = x\nx = 1", {"reads": "x", "writes": "x y"}),
        ("x = x + 1", {"reads": "x", "writes": "x"}),
        ("x: int = z", {"reads": "z", "writes": "x"}),
        ("n += k", {"reads": "k n", "writes": "n", "changed": "n"}),
        ("print(len(x))", {"reads": "x"}),
        ("rows[i] = x", {"reads": "i rows x", "writes": "rows", "changed": "rows"}),
        ("a.b.c = x", {"reads": "a x", "writes": "a", "changed": "a"}),
        ("a, b[0] = x", {"reads": "b x", "writes": "a"}),
        ("rows.append(x)", {"reads": "rows x", "writes": "rows", "changed": "rows", "called": "rows", "run": "rows"}),
        ("y = rows.pop()", {"reads": "rows", "writes": "rows y", "changed": "rows", "called": "rows", "run": "rows"}),
        ("x.add_(1)", {"reads": "x", "writes": "x", "changed": "x", "called": "x"}),
        ("y = x.add_(1)", {"reads": "x", "writes": "x y", "changed": "x", "called": "x"}),
        ("y = x.__add__(1)", {"reads": "x", "writes": "y", "called": "x"}),
        ("y = x.exp()", {"reads": "x", "writes": "y", "called": "x"}),
        ("x.exp()", {"reads": "x", "writes": "x", "changed": "x", "called": "x"}),
        ("y = f(x)", {"reads": "f x", "writes": "y", "called": "f", "run": "f"}),
        ("f(x)", {"reads": "f x", "called": "f", "run": "f"}),
        ("w = net.state_dict()", {"reads": "net", "writes": "w", "called": "net", "run": "net"}),
        ("w = net.layers[0](x)", {"reads": "net x", "writes": "w", "called": "net"}),
        ("for x in xs:\n    y = x", {"reads": "xs", "writes": "x y"}),
        ("for x in xs:\n    x.zero_()", {"reads": "xs", "writes": "x xs", "changed": "x xs", "called": "x"}),
        ("y = [f(x) for x in xs]", {"reads": "f xs", "writes": "x y", "called": "f", "run": "f"}),
        ("y = [a for xs in xss for a in xs if a]", {"reads": "xss", "writes": "a xs y"}),
        ("def g(x):\n    return z", {}),
        ("y = functional_call(net, w, x)", {"reads": "functional_call w x", "writes": "y"} | _both("functional_call")),
    ],
)
def test_of_single_statements(text: str, expected: dict[str, str]) -> None:
    assert as_text(found(text)) == expected


def test_what_trains() -> None:
    for text in ("loss.backward()", "opt.step()", "y = m.fit(x)", "net.load_state_dict(w)"):
        assert found(text).trains
    for text in ("loss.item()", "step()", "y = m.exp(x)", "net.state_dict()"):
        assert not found(text).trains


def test_names_that_are_theirs_from_the_beginning_are_not_read() -> None:
    assert as_text(found("y = x + z", {"x"})) == {"reads": "z", "writes": "y"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "learn(net, b)",
            {"reads": "b learn net opt", "called": "learn net opt", "run": "learn net opt", "writes": "opt"}
            | {"changed": "opt", "trains": "yes"},
        ),
        ("y = run(net, x)", {"reads": "net offset run x", "writes": "y"} | _both("net run")),
        ("y = run(x=x, model=net)", {"reads": "net offset run x", "writes": "y"} | _both("net run")),
        ("fill(kept, x)", {"reads": "fill kept x", "writes": "kept", "changed": "kept"} | _both("fill kept")),
        (
            "fill_both(kept, x)",
            {"reads": "fill fill_both kept seen x", "writes": "kept seen", "changed": "kept seen"}
            | {"called": "fill fill_both kept seen", "run": "fill fill_both kept seen"},
        ),
        ("count(3)", {"reads": "count total", "writes": "total", "called": "count", "run": "count"}),
        ("again(3)", {"reads": "again", "called": "again", "run": "again"}),
        ("fill(*both)", {"reads": "both fill", "called": "fill", "run": "fill"}),
    ],
)
def test_with_the_functions_of_the_text(text: str, expected: dict[str, str]) -> None:
    assert as_text(found(text)) == expected


def test_functions_are_followed_four_deep() -> None:
    assert "deep" in found("two(3)").changed
    assert "deep" not in found("one(3)").changed


def test_what_a_call_gives_for_each_parameter() -> None:
    def named(text: str) -> dict[str, str]:
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        return {name: ast.unparse(value) for name, value in given_to(call, KNOWN["fill_both"]).items()}

    assert named("fill_both(1, b=2)") == {"a": "1", "b": "2"}
    assert named("fill_both(1, 2, 3)") == {"a": "1", "b": "2"}
    assert named("fill_both(1, *rest, **more)") == {"a": "1"}
    assert named("fill_both(*rest)") == {}
