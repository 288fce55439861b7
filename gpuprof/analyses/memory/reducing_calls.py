"""What a written call makes of a tensor, or of tensors that were kept one by one: a smaller one, or one as large."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import prod

_LIBRARIES = {"torch", "np", "numpy", "F"}
_JOIN = {"cat", "concat", "concatenate", "stack"}
# along the axes that they name; of all of them where they name none
_ANY_AXIS = {"amax", "amin", "any", "all", "max", "mean", "min", "nanmean", "nansum", "prod", "sum"}
_ONE_AXIS = {"argmax", "argmin", "count_nonzero", "logsumexp", "median", "norm", "std", "var"}
# of two parts each, and then of the two results
_RUNNING = {"amax", "amin", "any", "all", "max", "mean", "min", "nansum", "prod", "sum"}
# element by element
_ALIKE = {
    "abs", "astype", "bfloat16", "bool", "clamp", "clamp_min", "clone", "contiguous", "copy", "cpu", "cuda", "detach",
    "double", "exp", "float", "half", "log", "log1p", "neg", "nan_to_num", "numpy", "pow", "relu", "sigmoid", "sqrt",
    "square", "tanh", "to", "type",
}  # fmt: skip
_WIDER = 2
_WHOLE_AXIS = {"softmax", "log_softmax"}


@dataclass(frozen=True)
class Kept:
    """What a name stands for. `joined` is None: a tensor that was kept, or a container of them; else the axis along
    which they were joined, a new one where they were `stacked`."""

    joined: int | None = None
    stacked: bool = False


@dataclass(frozen=True)
class Reduction:
    """At `line` a `call` such as `mean(1)` makes a tensor smaller: along `axes` (None: all of them), of which `times`
    places are left. `of` says which axes are meant; `running`: it can be made of the results of two parts."""

    line: int
    call: str
    axes: tuple[int, ...] | None
    of: Kept
    running: bool
    times: int = 1

    @property
    def over_items(self) -> bool:
        """Whether it goes along the axis on which tensors were joined."""
        axes = self.axes
        return self.of.joined is not None and (axes is None or self.of.joined in axes)

    def left_share(self, shape: tuple[int, ...], tensors: int, *, whole: bool) -> float | None:
        """Which share of its bytes is left of `tensors` tensors of that shape, 0..1. `whole`: the shape is of all of
        them, joined. None where the axes do not suit, or where what is left of a part is no part of the result."""
        joined = self.of.joined
        inserted = self.of.stacked and not whole
        dimensions = len(shape) + inserted
        if not dimensions or (joined is not None and not -dimensions <= joined < dimensions):
            return None
        axes = range(dimensions) if self.axes is None else self.axes
        if not all(-dimensions <= axis < dimensions for axis in axes):
            return None
        along = None if joined is None else joined % dimensions
        lengths = list(shape)
        if inserted and along is not None:
            lengths.insert(along, 1)
        gone = {axis % dimensions for axis in axes}
        left = float(prod(length for axis, length in enumerate(lengths) if axis not in gone) * self.times)
        if along in gone:
            if not self.running:
                return None
            left /= 1 if whole else max(tensors, 1)
        # places are int64, mostly of float32
        wider = _WIDER if self.call.startswith("arg") else 1
        return min(wider * left / max(prod(lengths), 1), 1.0)


def reduction(call: ast.Call, of: Kept) -> Reduction | None:
    """The call as a reduction of what it is a method of, or gets first; None where it is none, or its axes are not
    written."""
    name, arguments = _named(call), _arguments(call)
    if isinstance(call.func, ast.Name):
        added = name == "sum" and of.joined is None
        return Reduction(call.lineno, "sum", (0,), Kept(0, stacked=True), running=True) if added else None
    if name == "topk":
        return _first_ones(call, arguments, of)
    if name not in _ANY_AXIS | _ONE_AXIS:
        return None
    given = {each.arg: each.value for each in call.keywords}
    at = given.get("dim", given.get("axis"))
    if at is None and arguments and name != "norm":
        at = arguments[0]
    if name == "norm" and at is None and arguments:
        return None
    axes = None if at is None else _numbers(at)
    if at is not None and axes is None:
        return None
    return Reduction(call.lineno, _text(call), axes, of, name in _RUNNING)


def selection(index: ast.Subscript, of: Kept) -> Reduction | None:
    """`x[:, 0]` as a reduction: one place of an axis other than the first; None where it takes more, or what it takes
    is not written."""
    parts = index.slice.elts if isinstance(index.slice, ast.Tuple) else []
    axes, behind = list[int](), False
    for number, part in enumerate(parts):
        if isinstance(part, ast.Constant) and part.value is Ellipsis and not behind:
            behind = True
        elif isinstance(part, ast.Constant | ast.UnaryOp) and _numbers(part) is not None:
            axes.append(number - len(parts) if behind else number)
        elif not (isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None):
            return None
    if not axes or (of.joined is not None and of.joined in axes):
        return None
    return Reduction(index.lineno, f"[{ast.unparse(index.slice).strip('()')}]", tuple(axes), of, running=False)


def joined(call: ast.Call) -> Kept | None:
    """What `torch.cat(x)`, `torch.stack(x, 1)` make of a container of tensors; None of another call, or where the axis
    is not written."""
    name = _named(call)
    if name not in _JOIN or not _of_library(call):
        return None
    given = {each.arg: each.value for each in call.keywords}
    at = given.get("dim", given.get("axis")) or (call.args[1] if len(call.args) > 1 else None)
    axes = (0,) if at is None else _numbers(at)
    return None if axes is None or len(axes) != 1 else Kept(axes[0], stacked=name == "stack")


def keeps_elements(call: ast.Call, of: Kept) -> bool:
    """Whether what it makes has the elements of the tensor at their places, changed one by one."""
    name = _named(call)
    if name in _WHOLE_AXIS:
        axes = _numbers(next(iter([*_arguments(call), *(each.value for each in call.keywords)]), ast.Constant(None)))
        return axes is not None and of.joined not in axes
    others = (*_arguments(call), *(each.value for each in call.keywords if each.arg not in ("dtype", "device")))
    plain = name in ("to", "type", "astype", "cpu", "cuda", "copy", "clone")
    return name in _ALIKE and (plain or all(isinstance(each, ast.Constant) for each in others))


def _first_ones(call: ast.Call, arguments: list[ast.expr], of: Kept) -> Reduction | None:
    given = {each.arg: each.value for each in call.keywords}
    number = arguments[0] if arguments else given.get("k")
    at = given.get("dim") or (arguments[1] if len(arguments) > 1 else ast.Constant(-1))
    many, axes = _numbers(number) if number is not None else None, _numbers(at)
    if many is None or axes is None or len(many) != 1:
        return None
    # values and their places
    return Reduction(call.lineno, _text(call), axes, of, running=False, times=2 * many[0])


def _named(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _of_library(call: ast.Call) -> bool:
    first = call.func
    while isinstance(first, ast.Attribute):
        first = first.value
    return isinstance(call.func, ast.Attribute) and isinstance(first, ast.Name) and first.id in _LIBRARIES


def _arguments(call: ast.Call) -> list[ast.expr]:
    """Without the tensor itself, which a function of a library gets first."""
    return call.args[1:] if _of_library(call) else list(call.args)


def _text(call: ast.Call) -> str:
    given = [ast.unparse(each) for each in _arguments(call)]
    given += [f"{each.arg}={ast.unparse(each.value)}" for each in call.keywords if each.arg]
    return f"{_named(call)}({', '.join(given)})"


def _numbers(node: ast.expr) -> tuple[int, ...] | None:
    try:
        found = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None
    numbers = found if isinstance(found, tuple | list) else (found,)
    return tuple(numbers) if numbers and all(type(each) is int for each in numbers) else None
