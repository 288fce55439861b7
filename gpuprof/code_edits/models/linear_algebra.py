"""Products, inverses, decompositions and sorts in a cheaper way that gives the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.keywords import is_open, positional, with_keyword
from gpuprof.code_edits.syntax.tree import CellTree

_PRODUCT = m.BinaryOperation(operator=m.MatrixMultiply())
_INVERSES = ("torch.linalg.inv", "torch.inverse", "linalg.inv")


def solve_instead(source: str, line: int) -> str | None:
    """`torch.linalg.solve(A, b)` for the one `torch.linalg.inv(A) @ b` of that line; None where there is no such."""
    tree = CellTree.of(source)
    products = _at(tree, line, _PRODUCT)
    found = [each for each in products if _inverted(tree, each.left) is not None]
    if tree is None or len(found) != 1:
        return None

    def solved(made: Any) -> cst.BaseExpression:
        matrix = _bare(made.left.args[0].value)
        call = cst.Call(cst.parse_expression("torch.linalg.solve"), [cst.Arg(matrix), cst.Arg(_bare(made.right))])
        return call.with_changes(lpar=made.lpar, rpar=made.rpar)

    return tree.changed({found[0]: solved})


def scale_instead(source: str, line: int, *, left: bool, vector: bool) -> str | None:
    """`A.diagonal()[:, None] * x` for the one `A @ x` of that line (of a vector without the axis; else
    `x * A.diagonal()` for `x @ A`), where both are names."""
    tree = CellTree.of(source)
    found = _at(tree, line, _PRODUCT)
    if tree is None or len(found) != 1 or not all(_is_name(each) for each in (found[0].left, found[0].right)):
        return None

    def scaled(made: Any) -> cst.BaseExpression:
        matrix = made.left if left else made.right
        diagonal = f"{tree.code(matrix)}.diagonal()"
        one = cst.parse_expression(diagonal if vector else f"{diagonal}[:, None]") if left else made.left
        other = made.right if left else cst.parse_expression(diagonal)
        return cst.BinaryOperation(one, cst.Multiply(), other, lpar=made.lpar, rpar=made.rpar)

    return tree.changed({found[0]: scaled})


def sparse_once(source: str, line: int) -> str | None:
    """`A = ....to_sparse_csr()` where the cell makes it at its first level, once, for the one `A @ x` of that line.

    None where `A` is mentioned as anything but the first factor of a product: sparse tensors lack much else.
    """
    tree = CellTree.of(source)
    found = _at(tree, line, _PRODUCT)
    if tree is None or len(found) != 1 or not isinstance(found[0].left, cst.Name):
        return None
    mentions = [each for each in tree.names() if each.value == found[0].left.value]
    made = [parent for each in mentions if (parent := _assignment(tree, each)) is not None]
    others = [each for each in mentions if _assignment(tree, each) is None]
    if len(made) != 1 or len(others) + 1 != len(mentions) or not all(_is_first_factor(tree, each) for each in others):
        return None

    def sparse(assigned: Any) -> cst.Assign:
        value, kinds = assigned.value, cst.Name | cst.Attribute | cst.Call | cst.Subscript
        if not isinstance(value, kinds) and not value.lpar:
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        call = cst.Call(cst.Attribute(value, cst.Name("to_sparse_csr")))
        return cst.Assign(assigned.targets, call, semicolon=assigned.semicolon)

    return tree.changed({made[0]: sparse})


def _assignment(tree: CellTree, name: cst.Name) -> cst.Assign | None:
    """The statement of the first level that binds that name and no other."""
    target = tree.parent(name)
    statement = tree.parent(target) if isinstance(target, cst.AssignTarget) else None
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    return statement if tree.parent(statement) in tree.statements else None


def _is_first_factor(tree: CellTree, name: cst.Name) -> bool:
    around = tree.parent(name)
    return m.matches(around, _PRODUCT) and isinstance(around, cst.BinaryOperation) and around.left is name


def reduced_svd(source: str, line: int) -> str | None:
    """`full_matrices=False` for the one `torch.linalg.svd(A)` of that line."""
    tree = CellTree.of(source)
    found = [each for each in _at(tree, line, m.Call()) if _called(tree, each).endswith("linalg.svd")]
    if tree is None or len(found) != 1 or is_open(found[0]) or positional(found[0]) != 1:
        return None
    return tree.changed({found[0]: lambda made: with_keyword(made, "full_matrices", "False")})


def topk_instead(source: str, line: int) -> str | None:
    """`x.topk(k, dim=1).indices` for the one `x.argsort(dim=1, descending=True)[:, :k]` of that line."""
    tree = CellTree.of(source)
    edits = [(each, edit) for each in _at(tree, line, m.Subscript()) if (edit := _top(tree, each)) is not None]
    return tree.changed(dict(edits)) if tree is not None and len(edits) == 1 else None


def _top(tree: CellTree | None, node: cst.Subscript) -> Callable[[Any], Any] | None:
    call, count = node.value, _first_ones(node.slice)
    if tree is None or not isinstance(call, cst.Call) or count is None or is_open(call):
        return None
    name = _called(tree, call)
    of_torch = name == "torch.argsort"
    if not (of_torch or name.endswith(".argsort")) or positional(call) != int(of_torch):
        return None
    given = {each.keyword.value: tree.code(each.value) for each in call.args if each.keyword is not None}
    largest = given.pop("descending", "False")
    axis = given.pop("dim", "-1")
    if given or largest not in ("True", "False") or axis not in ("-1", str(len(node.slice) - 1)):
        return None
    scores = call.args[0].value if of_torch else getattr(call.func, "value", None)
    if scores is None:
        return None
    text = f"{tree.code(scores)}.topk({tree.code(count)}, dim={axis}{'' if largest == 'True' else ', largest=False'})"
    return lambda made: cst.parse_expression(f"{text}.indices")


def _first_ones(parts: Sequence[cst.SubscriptElement]) -> cst.BaseExpression | None:
    """The `k` of `[..., :k]`, all other axes whole."""
    slices = [each.slice for each in parts]
    if not all(isinstance(each, cst.Slice) and each.lower is None and each.step is None for each in slices):
        return None
    if any(isinstance(each, cst.Slice) and each.upper is not None for each in slices[:-1]):
        return None
    last = slices[-1]
    return last.upper if isinstance(last, cst.Slice) else None


def _inverted(tree: CellTree | None, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What an inverse is taken of."""
    if tree is None or not isinstance(node, cst.Call) or _called(tree, node) not in _INVERSES:
        return None
    return node.args[0].value if len(node.args) == 1 and positional(node) == 1 and not is_open(node) else None


def _at(tree: CellTree | None, line: int, kind: Any) -> list[Any]:
    return [] if tree is None else [each for each in tree.all(kind) if line in tree.lines(each)]


def _called(tree: CellTree | None, call: cst.Call) -> str:
    return "" if tree is None else tree.imported_as(call.func) or tree.code(call.func)


def _bare(node: Any) -> Any:
    """Without parentheses of its own: it becomes an argument."""
    return node.with_changes(lpar=[], rpar=[]) if node.lpar and not isinstance(node, cst.Tuple) else node


def _is_name(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and not node.lpar
