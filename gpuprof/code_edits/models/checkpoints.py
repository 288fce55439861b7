"""Parts of a model whose activations are calculated again in backward instead of being kept."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.keywords import is_open, with_keyword
from gpuprof.code_edits.syntax.statements import at_head
from gpuprof.code_edits.syntax.tree import CellTree

_BACKWARD = m.Call(m.Attribute(attr=m.Name("backward")))
_NO_REENTRANCE = ("use_reentrant", "False")


def checkpoint_blocks(source: str, parts: Collection[str] = ()) -> str | None:
    """The repeated blocks of the cell's model, each through `torch.utils.checkpoint`.

    The one loop `for block in self.blocks` in a `forward`, or `for block in blocks` in a round of training, with one
    call of the block in it. `parts`: names of the model's parts, where they are known: `blocks` has to be one. Blocks
    that keep count of their calls, as batch norms do, would count twice: the caller knows that there are none.
    """
    tree = CellTree.of(source)
    loops = [loop for loop in tree.all(m.For()) if _blocks(tree, loop)] if tree else []
    if tree is None or len(loops) != 1:
        return None
    name, attribute = _blocks(tree, loops[0]) or ("", "")
    calls = tree.all(m.Call(m.Name(name)), loops[0].body)
    mentions = [each for each in tree.names(loops[0].body) if each.value == name]
    if len(mentions) != 1 or (parts and attribute not in parts):
        return None
    return _through_checkpoint(tree, calls)


def _blocks(tree: CellTree, loop: cst.For) -> tuple[str, str] | None:
    """The names `block` and `blocks` of `for block in self.blocks`, enumerated or not."""
    function, rounds = tree.function(loop), tree.loops(loop)
    over: cst.BaseExpression = loop.iter
    target: cst.BaseExpression = loop.target
    if m.matches(over, m.Call(m.Name("enumerate"), args=[m.Arg()])) and isinstance(target, cst.Tuple):
        over, target = cst.ensure_type(over, cst.Call).args[0].value, target.elements[-1].value
    if not isinstance(target, cst.Name):
        return None
    forward = isinstance(function, cst.FunctionDef) and function.name.value == "forward" and not rounds
    if forward and m.matches(over, m.Attribute(value=m.Name("self"), attr=m.Name())):
        return target.value, cst.ensure_type(over, cst.Attribute).attr.value
    if (
        len(rounds) == 1
        and isinstance(over, cst.Name)
        and tree.all(_BACKWARD, rounds[0])
        and _is_passed_on(loop, target)
    ):
        return target.value, over.value
    return None


def _is_passed_on(loop: cst.For, block: cst.Name) -> bool:
    """`h = block(h)` is all that the loop does."""
    called = m.Assign(targets=[m.AssignTarget(m.Name())], value=m.Call(m.Name(block.value), args=[m.Arg(m.Name())]))
    body = loop.body.body
    if len(body) != 1 or not m.matches(body[0], m.SimpleStatementLine(body=[called])):
        return False
    assign = cst.ensure_type(cst.ensure_type(body[0], cst.SimpleStatementLine).body[0], cst.Assign)
    given = cst.ensure_type(assign.value, cst.Call).args[0].value
    return m.matches(given, m.Name(cst.ensure_type(assign.targets[0].target, cst.Name).value))


def _through_checkpoint(tree: CellTree, calls: list[cst.Call]) -> str | None:
    imported = at_head(tree, "from torch.utils.checkpoint import checkpoint")
    named = any("checkpoint" in name.value for name in tree.all(m.Name()))
    if len(calls) != 1 or named or not calls[0].args or is_open(calls[0]) or imported is None:
        return None

    def change(made: cst.Call) -> cst.Call:
        asked = cst.Arg(made.func, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        return with_keyword(made.with_changes(func=cst.Name("checkpoint"), args=[asked, *made.args]), *_NO_REENTRANCE)

    return tree.changed({**imported, calls[0]: change})
