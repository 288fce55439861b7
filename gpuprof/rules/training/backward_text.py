"""What `.backward()` is called on, and whose `.grad` is read, by the text of the cell."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gpuprof.analyses.loops.written_loops import parsed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LONGEST = 60


def added_up(source: str, lines: Sequence[int]) -> str:
    """How the losses of these lines become one, in the words of the cell; empty where its text does not tell.

    One statement alone in a `for` loop, one beside others in a loop, or several statements of one block.
    """
    tree = parsed(source)
    found = [each for line in lines for each in _calls(tree, line)] if tree is not None else []
    texts = [text for each in found if (text := _loss(each))]
    if tree is None or len(texts) != len(found):
        return ""
    if len(texts) > 1:
        together = f"({' + '.join(texts)})"
        return f"`{together}.backward()`" if len(together) <= 2 * _LONGEST else ""
    loop = _loop_around(tree, found[0]) if texts else None
    if loop is None:
        return ""
    if len(loop.body) == 1 and isinstance(loop.body[0], ast.Expr) and loop.body[0].value is found[0]:
        over = f"{ast.unparse(loop.target)} in {ast.unparse(loop.iter)}"
        return f"`sum({texts[0]} for {over}).backward()` in place of the loop in line {loop.lineno}"
    return f"add up `{texts[0]}` in the loop in line {loop.lineno}, and call `.backward()` on the sum after it"


def gradient_of(source: str, line: int) -> tuple[str, str] | None:
    """The loss at a line, and the one name whose `.grad` the same function reads; None where that is not clear."""
    tree = parsed(source)
    found = list(_calls(tree, line)) if tree is not None else []
    loss = _loss(found[0]) if len(found) == 1 else ""
    if tree is None or not loss:
        return None
    within = _function_around(tree, found[0])
    read = {
        ast.unparse(each.value)
        for each in ast.walk(within)
        if isinstance(each, ast.Attribute) and each.attr == "grad" and isinstance(each.ctx, ast.Load)
    }
    named = {each for each in read if each.isidentifier()}
    return (loss, named.pop()) if len(read) == len(named) == 1 else None


def _calls(tree: ast.AST, line: int) -> Iterator[ast.Call]:
    calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call))
    for each in calls:
        named = isinstance(each.func, ast.Attribute) and each.func.attr == "backward"
        if named and each.lineno <= line <= (each.end_lineno or each.lineno):
            yield each


def _loss(call: ast.Call) -> str:
    """Empty where it is given a gradient of its own, or the text is too long for a sentence."""
    given = [each.arg for each in call.keywords]
    if call.args or any(each not in ("retain_graph", "create_graph") for each in given):
        return ""
    assert isinstance(call.func, ast.Attribute)
    text = ast.unparse(call.func.value)
    return text if len(text) <= _LONGEST else ""


def _loop_around(tree: ast.AST, call: ast.Call) -> ast.For | None:
    """The innermost `for` loop."""
    loops = [
        each for each in ast.walk(tree) if isinstance(each, ast.For) and any(one is call for one in ast.walk(each))
    ]
    return max(loops, key=lambda each: each.lineno, default=None)


def _function_around(tree: ast.AST, call: ast.Call) -> ast.AST:
    found = [
        each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS) and any(one is call for one in ast.walk(each))
    ]
    return max(found, key=lambda each: each.lineno, default=tree)
