"""What the text of a notebook says of a name that holds tensors: where it is made, and what is done with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.memory.kept_graphs import filled_in, filling_lines, summing_lines

_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_COMBINE = {"sum", "mean", "average", "nanmean"}
_ADD_UP = {"add_", "lerp_"}
# what may be called of a copy while it is added: anything else may use it as a model
_PLAIN = {
    "clone", "cpu", "cuda", "detach", "dict", "double", "float", "items", "keys", "len", "list", "range", "stack", "to",
    "values", "zip",
}  # fmt: skip
_IN_PARTS = {"split", "chunk", "narrow", "index_select", "TensorDataset", "DataLoader", "Subset"}
# what makes another tensor or array of all of it: functions of their first argument, and methods
_MADE_OF = {"tensor", "as_tensor", "from_numpy", "asarray", "array", "ascontiguousarray"}
_CONVERTS = {
    *("to", "type", "astype", "float", "half", "bfloat16", "double", "long", "numpy", "clone", "copy", "contiguous"),
    *("transpose", "permute", "unsqueeze", "squeeze", "pin_memory", "cpu", "cuda", "requires_grad_"),
}
_PRODUCTS = {"mm", "matmul", "mv"}
_DENSE = {"toarray", "todense", "to_dense"}
# of the methods that end like those that write
_UNCHANGED = {"pin_memory_", "requires_grad_", "share_memory_", "detach_", "zero_", "copy_", "fill_", "random_"}
_KEEPING = {"retain_graph", "create_graph"}
_GRADIENTS = {"backward", "grad"}


def made_lines(source: str, name: str, function: str | None = None) -> tuple[int, ...]:
    """The lines of `name = …` in that function, or outside of any, but for those that give it a number or something
    empty."""
    return tuple(sorted(getattr(node, "lineno", 0) for node in _makings(source, name, function)))


def last_made(source: str, name: str, function: str | None = None) -> range:
    """All lines of the last of these statements."""
    found = sorted(_makings(source, name, function), key=lambda node: node.lineno)
    return range(found[-1].lineno, (found[-1].end_lineno or found[-1].lineno) + 1) if found else range(0)


def _makings(source: str, name: str, function: str | None) -> list[ast.stmt | ast.expr]:
    nodes = _own(source) if function is None else _of_function(source, function)
    found = (node for node in nodes if _binds(node, name) and not _is_plain(node))
    return [node for node in found if isinstance(node, ast.stmt | ast.expr)]


def lines_of_methods(source: str, name: str) -> tuple[int, ...]:
    """Where `name = Class(…)`, the lines at which methods of that class of the text fill an attribute of the object."""
    calls = (node for node in _own(source) if isinstance(node, ast.Assign) and _binds(node, name))
    made = {_called(node.value) for node in calls if isinstance(node.value, ast.Call)}
    found = set()
    for node in _all(source):
        if isinstance(node, ast.ClassDef) and node.name in made:
            for method in (each for each in node.body if isinstance(each, ast.FunctionDef) and each.args.args):
                own = method.args.args[0].arg
                targets = ((inner, filled_in(inner)) for inner in ast.walk(method))
                found |= {
                    inner.lineno  # type: ignore[attr-defined]
                    for inner, target in targets
                    if isinstance(target, ast.Attribute | ast.Subscript) and _mentions(target, own)
                }
    return tuple(sorted(found))


def attribute_lines(source: str, name: str, attribute: str, function: str | None = None) -> tuple[int, ...]:
    """Where `name = Class(…)`, the lines at which methods of that class of the text bind the attribute."""
    if not attribute:
        return ()
    values = (getattr(node, "value", None) for node in _makings(source, name, function))
    made = {_called(value) for value in values if isinstance(value, ast.Call)}
    classes = (node for node in _all(source) if isinstance(node, ast.ClassDef) and node.name in made)
    bindings = (node for each in classes for node in ast.walk(each) if isinstance(node, ast.Assign))
    return tuple(node.lineno for node in bindings if any(_has_attribute(each, attribute) for each in node.targets))


def is_refilled(source: str, name: str) -> bool:
    """Whether a loop binds it anew and fills it in a loop inside."""
    lines = {*filling_lines(source, {name}), *summing_lines(source, name)}
    for loop in _own(source):
        if isinstance(loop, ast.For | ast.While):
            inside = [node for each in loop.body for node in ast.walk(each)]
            filled = any(loop.lineno < line <= (loop.end_lineno or line) for line in lines)
            if filled and any(_binds(node, name) and getattr(node, "lineno", 0) not in lines for node in inside):
                return True
    return False


def is_combined(source: str, name: str) -> bool:
    """Whether what it holds is added up as it is: in a sum or mean over it, or in a loop over it."""
    for node in _all(source):
        if isinstance(node, ast.Call) and _called(node) in _COMBINE and _mentions(node, name) and _is_simple(node):
            return True
        if isinstance(node, ast.For) and _mentions(node.iter, name):
            inside = [node, *(inner for each in node.body for inner in ast.walk(each))]
            loops = [each.target for each in inside if isinstance(each, ast.For)]
            bound = {inner.id for target in loops for inner in ast.walk(target) if isinstance(inner, ast.Name)}
            if any(_adds_up(inner, bound) for inner in inside):
                return True
    return False


def is_used_in_parts(source: str, name: str, attribute: str = "", _before: frozenset[str] = frozenset()) -> bool:
    """Whether it, or the attribute of it, is indexed by a variable, split, or given to a data set: only a part of it is
    used at a time. So is what is only converted, into something that is used in parts."""
    for node in _all(source):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            made, before = node.targets[0].id, _before | {name}
            converted = made not in before and _is(_unconverted(node.value), name)
            if converted and is_used_in_parts(source, made, _before=before):
                return True
        if isinstance(node, ast.Subscript) and _varies(node.slice):
            own = isinstance(node.value, ast.Attribute) and node.value.attr == attribute
            if own or _is(node.value, name):
                return True
        if isinstance(node, ast.Call) and _called(node) in _IN_PARTS and _mentions(node, name):
            return True
    return False


def converted_from(source: str, name: str) -> str:
    """`windows` of `x = torch.tensor(windows).float()`; empty where the name gets its value in another way."""
    values = [node.value for node in _all(source) if isinstance(node, ast.Assign) and _binds(node, name)]
    made = _unconverted(values[0]) if len(values) == 1 else None
    return made.id if isinstance(made, ast.Name) and made.id != name else ""


def is_multiplied(source: str, name: str) -> bool:
    """Whether it is the first factor of a matrix product, which may be sparse."""
    for node in _all(source):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and _is(node.left, name):
            return True
        if isinstance(node, ast.Call) and _called(node) in _PRODUCTS:
            method = isinstance(node.func, ast.Attribute) and _is(node.func.value, name)
            if method or (node.args and _is(node.args[0], name)):
                return True
    return False


def densified_by(source: str, name: str, function: str | None = None) -> str:
    """The call with which the statements that make it make a sparse matrix dense; empty where none does."""
    inner = (call for node in _makings(source, name, function) for call in ast.walk(node))
    return next((_called(call) for call in inner if isinstance(call, ast.Call) and _called(call) in _DENSE), "")


def is_updated(source: str, name: str, attribute: str = "") -> bool:
    """Whether numbers are added in place to it, or to the attribute of it: a smaller type may not hold them later."""
    for node in _all(source):
        if isinstance(node, ast.AugAssign) and (_mentions(node.target, name) or _has_attribute(node.target, attribute)):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changes = node.func.attr.endswith("_") and node.func.attr not in _UNCHANGED
            own = [node.func.value] if changes else node.args[:1] if node.func.attr == "at" else []
            if any(_mentions(each, name) or _has_attribute(each, attribute) for each in own):
                return True
    return False


def has_backward(source: str) -> bool:
    """Whether any gradient is asked for."""
    return any(isinstance(node, ast.Call) and _called(node) in _GRADIENTS for node in _all(source))


def goes_backward(source: str, name: str) -> bool:
    """Whether `name.backward()` is called, or `grad` with it, anywhere, or some backward pass leaves its graph: in the
    code that has this name, or in a function that is given it."""
    calls = [node for node in _all(source) if isinstance(node, ast.Call) and _called(node) in _GRADIENTS]
    if any(_mentions(call, name) for call in calls):
        return True
    keeping = [call for call in calls if any(each.arg in _KEEPING for each in call.keywords)]
    scopes = [node for node in _all(source) if isinstance(node, ast.FunctionDef)]
    around = [[each for each in scopes if call in ast.walk(each)] for call in keeping]
    if not all(around):
        return True
    given = {_called(node) for node in _all(source) if isinstance(node, ast.Call) and _mentions(node, name)}
    return any(each.name in given or any(_is(node, name) for node in ast.walk(each)) for one in around for each in one)


def _unconverted(value: ast.expr) -> ast.expr:
    """What a chain of conversions begins with: `x` of `torch.tensor(x).float().transpose(1, 2)`."""
    while isinstance(value, ast.Call):
        if _called(value) in _MADE_OF and value.args:
            value = value.args[0]
        elif _called(value) in _CONVERTS and isinstance(value.func, ast.Attribute):
            value = value.func.value
        else:
            break
    return value


@lru_cache(maxsize=64)
def _all(source: str) -> tuple[ast.AST, ...]:
    tree = parsed(source)
    return tuple(ast.walk(tree)) if tree else ()


@lru_cache(maxsize=64)
def _own(source: str) -> tuple[ast.AST, ...]:
    """The nodes outside of functions and classes."""
    tree = parsed(source)
    return tuple(_outside(tree)) if tree else ()


def _of_function(source: str, function: str) -> tuple[ast.AST, ...]:
    defined = (node for node in _all(source) if isinstance(node, ast.FunctionDef) and node.name == function)
    return tuple(inner for node in defined for inner in _outside(node))


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, _SCOPES):
            yield inner
            yield from _outside(inner)


def _binds(node: ast.AST, name: str) -> bool:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.For | ast.NamedExpr):
        targets = [node.target]
    return any(_is(inner, name) for each in targets for inner in ast.walk(each) if isinstance(inner, ast.Name))


def _is_plain(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    if isinstance(value, ast.List | ast.Tuple):
        return not value.elts
    return not value.keys if isinstance(value, ast.Dict) else isinstance(value, ast.Constant)


def _adds_up(node: ast.AST, bound: set[str]) -> bool:
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        added: list[ast.expr] = [node.value]
    elif isinstance(node, ast.Call) and _called(node) in _ADD_UP:
        added = node.args
    else:
        return False
    return any(_is_simple(each) and any(_mentions(each, name) for name in bound) for each in added)


def _is_simple(node: ast.AST) -> bool:
    calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return all(_called(call) in _PLAIN | _COMBINE for call in calls)


def _varies(index: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) for inner in ast.walk(index))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _mentions(node: ast.AST, name: str) -> bool:
    return any(_is(inner, name) for inner in ast.walk(node))


def _has_attribute(node: ast.AST, attribute: str) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr == attribute for inner in ast.walk(node))


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
