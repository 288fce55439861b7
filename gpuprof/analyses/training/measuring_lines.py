"""Which lines of a source measure what a model gives: compare it with targets, compute a loss or a metric of it.

That is what an evaluation does, and what serving, labelling and the extraction of features do not.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

_WORDS = re.compile(
    r"(^|_)(loss(es)?|criterion|entropy|nll|mse|mae|rmse|mape|acc|accuracy|auc|auroc|f1|metrics?|errors?|err|r2|"
    r"perplexity|ppl|bleu|rouge|wer|cer|iou|dice|psnr|ssim|fid|recall|precision|ndcg|mrr|hits?|correct|wrong|"
    r"eval|evaluate|evaluation|val|valid|validate|validation|test|dev|heldout|holdout|held)(_|$|\d)"
)
_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.FunctionDef, ast.AsyncFunctionDef)
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
_TRAINS = ("backward", "step")


@lru_cache(maxsize=64)
def lines_that_measure(source: str) -> frozenset[int] | None:
    """The lines of statements that measure, those whose results such a statement measures, and those of a `for`,
    `while`, `with` or function that has one in it and trains nothing. A line counts for the innermost of them.

    None where the source does not parse, or there is none: then nothing is known.
    """
    tree = _parsed(source)
    if tree is None:
        return None
    found, inner = set[int](), dict[int, bool]()
    statements = [node for node in ast.walk(tree) if isinstance(node, _STATEMENTS)]
    measuring = [node for node in statements if _measures(node)]
    read = {name for node in measuring for name in _measured(node)}
    for node in statements:
        if node in measuring or read & _written(node):
            found.update(_lines(node))
    # an inner block stands after the one around it, and decides for its lines
    for block in ast.walk(tree):
        if isinstance(block, _BLOCKS):
            measures = _calls(block).isdisjoint(_TRAINS) and any(_measures(each) for each in _below(block))
            inner.update(dict.fromkeys(_lines(block), measures))
    found.update(line for line, measures in inner.items() if measures)
    return frozenset(found)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _parsed(source: str) -> ast.Module | None:
    # a magic on the first line is not Python
    lines = ["" if line.startswith(("%", "!")) else line for line in source.splitlines()]
    if not any(lines):
        return None
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return None


def _below(block: ast.stmt) -> list[ast.stmt]:
    return [node for node in ast.walk(block) if isinstance(node, (*_STATEMENTS, ast.If, ast.Assert))]


def _measures(statement: ast.stmt) -> bool:
    """Whether it names a measure, or what it compares for equality is computed on both sides."""
    modes = {id(node.func) for node in ast.walk(statement) if isinstance(node, ast.Call) and not node.args}
    return any(
        (isinstance(node, ast.Compare) and _of_two_results(node))
        # `model.eval()` sets a mode
        or (id(node) not in modes and _WORDS.search(_name(node).lower()))
        for node in ast.walk(statement)
    )


def _measured(statement: ast.stmt) -> set[str]:
    """The names that a comparison, or a call whose own name is one of a measure, reads."""
    found = [
        node
        for node in ast.walk(statement)
        if (isinstance(node, ast.Compare) and _of_two_results(node))
        or (isinstance(node, ast.Call) and node.args and _WORDS.search(_name(node.func).lower()))
    ]
    return {name.id for node in found for name in ast.walk(node) if isinstance(name, ast.Name)}


def _of_two_results(node: ast.Compare) -> bool:
    sides = (node.left, *node.comparators)
    equal = all(isinstance(each, (ast.Eq, ast.NotEq)) for each in node.ops)
    return equal and not any(isinstance(each, ast.Constant) for each in sides) and _looks_computed(sides)


def _looks_computed(sides: tuple[ast.expr, ...]) -> bool:
    """`out.argmax(1) == y`, not `step % every == 0` nor `mode == self.mode`."""
    return any(isinstance(each, (ast.Call, ast.Name)) for each in sides) and not any(
        isinstance(each, ast.BinOp) for each in sides
    )


def _written(statement: ast.stmt) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    names = {node.id for each in targets if each for node in ast.walk(each) if isinstance(node, ast.Name)}
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "extend"):
        names |= {node.id for node in ast.walk(call.func.value) if isinstance(node, ast.Name)}
    return names


def _calls(block: ast.stmt) -> set[str]:
    return {_name(node.func) for node in ast.walk(block) if isinstance(node, ast.Call)}


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else node.name if isinstance(node, ast.FunctionDef) else ""
