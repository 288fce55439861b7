"""Which expressions in a loop over a DataLoader are what the loader gave, still on the host."""

from __future__ import annotations

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.keywords import is_open, keyword_of, positional, with_keyword
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_DTYPES = ("bfloat", "bool", "complex", "double", "dtype", "float", "half", "int", "long", "short", "uint")
_VIEWS = m.Call(m.Attribute(attr=m.Name("items") | m.Name("values")), args=[])


def batch_copies(tree: CellTree, loop: cst.For) -> list[cst.Call]:
    """Each `x.to(device)` or `x.cuda()` in the loop's body whose `x` is a tensor of the batch, as the loader gave it.

    Left out are those to the CPU, those that only change the dtype, and tensors that the loop has bound anew.
    """
    names = _names_of_batch(tree, loop)
    copies = tree.all(m.Call(m.Attribute(attr=m.Name("to") | m.Name("cuda"))), loop.body)
    return [call for call in copies if root_name(call.func.value) in names and _goes_to_device(tree, call)]


def blocking(call: cst.Call) -> bool:
    """Whether the copy is not `non_blocking=True` yet."""
    known = keyword_of(call, "non_blocking")
    return known is None or (isinstance(known.value, cst.Name) and known.value.value == "False")


def without_blocking(copies: list[cst.Call]) -> Changes:
    """Those of them that block, with `non_blocking=True`."""
    return {call: lambda made: with_keyword(made, "non_blocking", "True") for call in copies if blocking(call)}


def _names_of_batch(tree: CellTree, loop: cst.For) -> set[str]:
    names = {name.value for name in tree.names(loop.target)}
    for assign in tree.all(m.Assign(targets=[m.AssignTarget()]), loop.body):
        if root_name(assign.value) in names and not isinstance(assign.value, cst.Call):
            names |= {name.value for name in tree.names(assign.targets[0].target)}
    for inner in tree.all(m.CompFor() | m.For(), loop.body):
        if root_name(inner.iter) in names:
            names |= {name.value for name in tree.names(inner.target)}
    return {name for name in names if not _is_bound_anew(tree, loop, name, names)}


def _is_bound_anew(tree: CellTree, loop: cst.For, name: str, names: set[str]) -> bool:
    """Whether the body gives the name anything but a part of the batch, or its own copy to the device."""
    copied = False
    for target in tree.all(m.AssignTarget() | m.AugAssign() | m.NamedExpr() | m.AsName(), loop.body):
        if all(each.value != name for each in tree.names(_bound(target))):
            continue
        assign = tree.parent(target) if isinstance(target, cst.AssignTarget) else target
        if not isinstance(assign, cst.Assign) or not all(_is_of_batch(part, names) for part in _parts(assign.value)):
            return True
        copied = True
    changing = m.Call(m.Attribute(value=m.Name(name), attr=m.Name(value=m.MatchIfTrue(_is_in_place))))
    # the copy may still run when the host changes what it copies
    return not copied and bool(tree.all(changing, loop.body))


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__")


def _is_of_batch(value: cst.CSTNode, names: set[str]) -> bool:
    """A part of the batch, or what its copy to the device gives; not what the host made of it."""
    calls = [call for call in m.findall(value, m.Call()) if not m.matches(call, _VIEWS)]
    innermost = [call for call in calls if isinstance(call, cst.Call) and not _copied_before(call.func)]
    copied = all(m.matches(call.func, m.Attribute(attr=m.Name("to") | m.Name("cuda"))) for call in innermost)
    return root_name(value) in names and copied


def _bound(node: cst.CSTNode) -> cst.CSTNode:
    bound = node.name if isinstance(node, cst.AsName) else getattr(node, "target", node)
    return bound if isinstance(bound, cst.CSTNode) else node


def _parts(value: cst.BaseExpression) -> list[cst.CSTNode]:
    """The parts of a tuple; of a comprehension what it iterates."""
    if isinstance(value, cst.Tuple | cst.List):
        return [element.value for element in value.elements]
    if isinstance(value, cst.DictComp | cst.ListComp | cst.GeneratorExp):
        return [value.for_in.iter]
    return [value]


def root_name(node: cst.CSTNode) -> str | None:
    """`batch` of `batch`, `batch["x"]`, `batch.x`, `batch.items()`, `batch["x"].to(device).float()`."""
    while True:
        if isinstance(node, cst.Name):
            return node.value
        if isinstance(node, cst.Subscript | cst.Attribute):
            node = node.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func
        else:
            return None


def _goes_to_device(tree: CellTree, call: cst.Call) -> bool:
    if is_open(call) or not isinstance(call.func, cst.Attribute):
        return False
    if call.func.attr.value == "cuda":
        return positional(call) < 2
    if not 0 < positional(call) < 3 or _copied_before(call.func.value):
        return False
    return not tree.code(call.args[0].value).removeprefix("torch.").startswith(_DTYPES)


def _copied_before(node: cst.CSTNode) -> bool:
    """Whether another copy or any other method stands before it: what it then copies is not the loader's tensor."""
    return bool(m.findall(node, m.Call()))
