"""Attention that is written out, as the one call that torch has for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Self

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.origin import values_of
from gpuprof.code_edits.syntax.statements import binds_torch, block_of
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_PRODUCTS = ("torch.matmul", "torch.bmm")
_SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax", "F.softmax", "nn.functional.softmax")
_WORD = re.compile(r"\w+")
_ROOT = re.compile(r"(?:math|np|numpy)\.sqrt\(.+\)|.+\*\*\s*0?\.5|.+\*\*\s*\(?-\s*0?\.5\)?")


@dataclass(frozen=True)
class _Scores:
    """Queries and keys of `q @ k.transpose(-2, -1)`, and what is done to the product, as text."""

    query: str
    key: str
    scale: str = "1.0"
    mask: str = ""

    def attended(self, value: str) -> str:
        mask = f", attn_mask={self.mask}" if self.mask else ""
        call = "torch.nn.functional.scaled_dot_product_attention"
        return f"{call}({self.query}, {self.key}, {value}{mask}, scale={self.scale})"


@dataclass
class _Rows:
    """The statements of one block from `first` to `last` that the call is to replace; they grow as they are read."""

    tree: CellTree
    body: list[cst.CSTNode]
    first: int
    last: int

    @classmethod
    def around(cls, tree: CellTree, node: cst.CSTNode) -> Self | None:
        line = tree.nearest(node, cst.SimpleStatementLine)
        block = block_of(tree, line) if line is not None else None
        if line is None or block is None:
            return None
        body: list[cst.CSTNode] = list(block.body)
        at = body.index(line)
        return cls(tree, body, at, at)

    def bound(self, row: int) -> tuple[str, cst.BaseExpression] | None:
        """Name and value of `name = value`, alone on its line."""
        simple = m.SimpleStatementLine(body=[m.Assign(targets=[m.AssignTarget(m.Name())])])
        if not 0 <= row < len(self.body) or not m.matches(self.body[row], simple):
            return None
        assign = cst.ensure_type(cst.ensure_type(self.body[row], cst.SimpleStatementLine).body[0], cst.Assign)
        return cst.ensure_type(assign.targets[0].target, cst.Name).value, assign.value

    def are_alone(self, call: str) -> bool:
        """Whether neither the call instead of them nor anything outside says the names that go."""
        gone = {bound[0] for row in range(self.first, self.last) if (bound := self.bound(row))}
        if gone & set(_WORD.findall(call)):
            return False
        home = self.tree.function(self.body[self.last])
        said = sum(name.value in gone for name in self.tree.names(home))
        rows = self.body[self.first : self.last + 1]
        return said == sum(name.value in gone for row in rows for name in self.tree.names(row))


def fuse_attention(source: str) -> str | None:
    """Product, softmax, product as `scaled_dot_product_attention`.

    The product may be scaled by a number and masked with `-inf`. None unless the cell has exactly one such row of
    statements, or where the scores or weights are used for anything else (dropout included).
    """
    tree = CellTree.of(source)
    if tree is None or not binds_torch(tree) or "scaled_dot_product_attention" in source:
        return None
    softmaxes = [call for call in tree.all(m.Call()) if _softened(tree, call) is not None]
    rows = _Rows.around(tree, softmaxes[0]) if len(softmaxes) == 1 else None
    given = _softened(tree, softmaxes[0]) if rows is not None else None
    scores = _scores(rows, given) if rows is not None and given is not None else None
    used = _used(rows, softmaxes[0]) if rows is not None else None
    if rows is None or scores is None or used is None:
        return None
    product, value = used
    call = scores.attended(tree.code(value))
    if not rows.are_alone(call):
        return None
    *gone, last = rows.body[rows.first : rows.last + 1]
    above = [each for row in gone for each in cst.ensure_type(row, cst.SimpleStatementLine).leading_lines]
    changes: Changes = {each: lambda _: cst.RemovalSentinel.REMOVE for each in gone}
    changes[last] = lambda made: made.with_changes(leading_lines=[*above, *made.leading_lines])
    changes[product] = lambda _: cst.parse_expression(call)
    return tree.changed(changes)


def _softened(tree: CellTree, call: cst.Call) -> cst.BaseExpression | None:
    """`x` of a softmax over the last dimension."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "softmax":
        named = tree.imported_as(call.func) or tree.code(call.func)
        function = named in _SOFTMAX
        args = call.args[1:] if function else call.args
        last = len(args) == 1 and tree.code(args[0].value).replace(" ", "") == "-1"
        keyword = args[0].keyword.value if args and args[0].keyword else "dim"
        if last and keyword == "dim":
            return call.args[0].value if function else call.func.value
    return None


def _scores(rows: _Rows, node: cst.BaseExpression) -> _Scores | None:
    """What the product was made of; `rows` grows by the statements that made it."""
    tree = rows.tree
    if isinstance(node, cst.Name):
        bound = rows.bound(rows.first - 1)
        if bound is None or bound[0] != node.value:
            return None
        rows.first -= 1
        return _scores(rows, bound[1])
    sides = _sides(tree, node)
    if sides is not None:
        key = _transposed(tree, sides[1], of_three=tree.code(node).startswith("torch.bmm"))
        return _Scores(tree.code(sides[0]), tree.code(key)) if key is not None and _is_plain(sides[0]) else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply | cst.Divide):
        inner = _scores(rows, node.left)
        if inner is None or inner.scale != "1.0" or inner.mask or not _is_number(tree, node.right):
            return None
        text = tree.code(node.right)
        return replace(inner, scale=text if isinstance(node.operator, cst.Multiply) else f"1 / {text}")
    return _masked(rows, node)


def _masked(rows: _Rows, node: cst.BaseExpression) -> _Scores | None:
    """`scores.masked_fill(mask == 0, float("-inf"))`: what is left is `mask != 0`."""
    tree, filled = rows.tree, m.Call(m.Attribute(attr=m.Name("masked_fill")), args=[m.Arg(), m.Arg()])
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or not m.matches(node, filled):
        return None
    inner, mask, by = _scores(rows, node.func.value), node.args[0].value, tree.code(node.args[1].value)
    if inner is None or inner.mask or by.replace("'", '"') not in ('float("-inf")', "-torch.inf", "-math.inf"):
        return None
    zero = m.Comparison(comparisons=[m.ComparisonTarget(m.Equal(), m.Integer("0"))])
    if isinstance(mask, cst.Comparison) and m.matches(mask, zero):
        return replace(inner, mask=f"{tree.code(mask.left)} != 0")
    return replace(inner, mask=f"~{tree.code(mask)}") if _is_plain(mask) else None


def _used(rows: _Rows, softmax: cst.Call) -> tuple[cst.CSTNode, cst.BaseExpression] | None:
    """The product of the weights with the values, and the values; `rows` grows by its statement."""
    tree = rows.tree
    weights: cst.CSTNode | None
    bound = rows.bound(rows.last)
    if bound is not None and bound[1] is softmax:
        rows.last += 1
        following = rows.body[rows.last] if rows.last < len(rows.body) else None
        if not isinstance(following, cst.SimpleStatementLine):
            return None
        names = [name for name in tree.names(following) if name.value == bound[0] and _is_read(tree, name)]
        weights = names[0] if len(names) == 1 else None
    else:
        weights = softmax
    product = tree.parent(weights) if weights is not None else None
    product = tree.parent(product) if isinstance(product, cst.Arg) else product
    sides = _sides(tree, product)
    if product is None or sides is None or sides[0] is not weights or not _is_plain(sides[1]):
        return None
    return product, sides[1]


def _sides(tree: CellTree, node: cst.CSTNode | None) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Left and right of a matrix product."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
        return node.left, node.right
    if isinstance(node, cst.Call) and tree.code(node.func) in _PRODUCTS and len(node.args) == 2:
        return node.args[0].value, node.args[1].value
    return None


def _transposed(tree: CellTree, node: cst.BaseExpression, of_three: bool) -> cst.BaseExpression | None:
    """`k` of `k.transpose(-2, -1)` or `k.mT`."""
    if isinstance(node, cst.Attribute) and node.attr.value == "mT":
        return node.value if _is_plain(node.value) else None
    if not isinstance(node, cst.Call) or not m.matches(node.func, m.Attribute(attr=m.Name("transpose"))):
        return None
    dimensions = {tree.code(arg.value).replace(" ", "") for arg in node.args}
    key = cst.ensure_type(node.func, cst.Attribute).value
    last = dimensions == {"-2", "-1"} or (of_three and dimensions == {"1", "2"})
    return key if last and _is_plain(key) else None


def _is_plain(node: cst.BaseExpression) -> bool:
    """It may be moved to another line: a name, or a part of one."""
    return isinstance(node, cst.Name) or (isinstance(node, cst.Attribute) and _is_plain(node.value))


def _is_number(tree: CellTree, node: cst.BaseExpression) -> bool:
    """A Python number, not a tensor that is learned."""
    if isinstance(node, cst.Name | cst.Attribute):
        given = values_of(tree, node)
        return bool(given) and all(not isinstance(each, cst.Name) and _is_number(tree, each) for each in given)
    return m.matches(node, m.Float() | m.Integer()) or bool(_ROOT.fullmatch(tree.code(node)))


def _is_read(tree: CellTree, name: cst.Name) -> bool:
    return not isinstance(tree.parent(name), cst.AssignTarget)
