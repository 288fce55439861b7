"""Which call gives what a broadcast that is reduced gives: by the text from the broadcast to the reduction."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_ROOTS = {"norm", "vector_norm"}
_SQUARE = {"pow", "power", "square", "float_power"}
_ABSOLUTE = {"abs", "absolute"}
_OF_NUMPY = {"np", "numpy"}
_OF_TENSORS = {"unsqueeze", "pow", "norm", "square"}
_AXIS_NAMES = {"dim", "axis"}
# rows, rows, features
_AXES = 3


class Form(StrEnum):
    """What is made of all pairs: Euclidean distances (or their squares), sums of absolute differences, sums of
    products, or something else, for which there is no one call."""

    DISTANCES = "distances"
    ABSOLUTE = "absolute differences"
    PRODUCTS = "products"
    OTHER = "other"


_ORDERS: dict[float | None, Form] = {2: Form.DISTANCES, 1: Form.ABSOLUTE}


@dataclass(frozen=True)
class Reduced:
    """`rows_shown`: the text shows differences of rows, with an axis of features. `library`: `torch`, `numpy`, or empty
    where the text does not show whose arrays these are."""

    form: Form
    rows_shown: bool = False
    library: str = ""


def reduced_as(scope: ast.AST, made: ast.expr) -> Reduced:
    """What `scope` makes of the broadcast `made`. OTHER where anything but the one reduction reads it."""
    walk, operation = _WayToReduction(scope, made), _operation(made)
    if operation == "mul" and walk.sums_products():
        return Reduced(Form.PRODUCTS, library=walk.library())
    shown = _axes_of_rows(made) if operation == "sub" else None
    if shown is None:
        return Reduced(Form.OTHER)
    form, axis = walk.distances()
    if form is Form.OTHER or axis not in (-1, max(shown, _AXES) - 1):
        return Reduced(Form.OTHER)
    return Reduced(form, shown >= _AXES or axis > 0, walk.library())


def _operation(node: ast.expr) -> str:
    if isinstance(node, ast.BinOp):
        return {ast.Sub: "sub", ast.Mult: "mul"}.get(type(node.op), "")
    return "" if getattr(node, "keywords", ()) else _called(node)


class _WayToReduction:
    """From `made` on, through calls and names, to the reduction."""

    def __init__(self, scope: ast.AST, made: ast.expr):
        self._scope, self._passed = scope, [made]
        self._above = {child: node for node in ast.walk(scope) for child in ast.iter_child_nodes(node)}
        self._names = list[str]()
        self._read = 0

    def sums_products(self) -> bool:
        """Whether the next thing is a sum, and the only one."""
        self._follow_names()
        call, arguments = self._next_call()
        return call is not None and _called(call) == "sum" and arguments is not None and self._read_nowhere_else()

    def distances(self) -> tuple[Form, int]:
        """The form, and the axis that is summed over."""
        form = Form.OTHER
        while True:
            self._follow_names()
            squared = self._own_square()
            call, arguments = (None, None) if squared else self._next_call()
            name = _called(call) if call is not None else ""
            if squared or (name in _SQUARE and _is_two(arguments, name)):
                if form is Form.DISTANCES:
                    return Form.OTHER, 0
                form = Form.DISTANCES
            elif name in _ABSOLUTE and not arguments:
                form = Form.ABSOLUTE if form is Form.OTHER else form
            else:
                break
        if call is None or arguments is None or not self._read_nowhere_else():
            return Form.OTHER, 0
        axis = _axis(arguments, 1 if name in _ROOTS else 0)
        if name in _ROOTS and form is not Form.DISTANCES:
            order = _given(arguments, {"p", "ord"}, 0)
            form = Form.DISTANCES if order is None else _ORDERS.get(_number(order), Form.OTHER)
        elif name != "sum":
            form = Form.OTHER
        return (Form.OTHER, 0) if axis is None else (form, axis)

    def library(self) -> str:
        """By whose functions and methods the statements on the way are written."""
        inner = [node for each in self._passed for node in ast.walk(self._statement(each))]
        names = {node.id for node in inner if isinstance(node, ast.Name)}
        methods = {_called(node) for node in inner if isinstance(node, ast.Call)}
        of_torch = "torch" in names or any(isinstance(each, ast.keyword) and each.arg == "dim" for each in inner)
        of_numpy = bool(names & _OF_NUMPY)
        if of_numpy:
            return "" if of_torch else "numpy"
        return "torch" if of_torch or methods & _OF_TENSORS else ""

    @property
    def _node(self) -> ast.AST:
        return self._passed[-1]

    def _statement(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, ast.stmt) and node in self._above:
            node = self._above[node]
        return node

    def _follow_names(self) -> None:
        """`d = ...`: on to where `d` is read next."""
        while True:
            assign = self._above.get(self._node)
            target = assign.targets[0] if isinstance(assign, ast.Assign) and len(assign.targets) == 1 else None
            if assign is None or not isinstance(target, ast.Name):
                return
            self._names.append(target.id)
            after = _place(assign, end=True)
            loads = (each for each in self._loads() if each.id == target.id and _place(each) > after)
            load = min(loads, key=_place, default=None)
            if load is None:
                return
            self._passed.append(load)
            self._read += 1

    def _loads(self) -> list[ast.Name]:
        names = (node for node in ast.walk(self._scope) if isinstance(node, ast.Name))
        return [node for node in names if isinstance(node.ctx, ast.Load)]

    def _read_nowhere_else(self) -> bool:
        """Of the names on the way: each is read, and bound, as often as was seen here."""
        names = set(self._names)
        bound = [
            node
            for node in ast.walk(self._scope)
            if isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load)
        ]
        return len(bound) == len(self._names) and sum(each.id in names for each in self._loads()) == self._read

    def _own_square(self) -> bool:
        """`d ** 2` or `d * d`; goes on to it."""
        node, above = self._node, self._above.get(self._node)
        if not isinstance(above, ast.BinOp):
            return False
        power = isinstance(above.op, ast.Pow) and above.left is node and _number(above.right) == 2
        times = isinstance(above.op, ast.Mult) and _are_one_name(above.left, above.right)
        if times:
            self._read += 1
        if power or times:
            self._passed.append(above)
        return power or times

    def _next_call(self) -> tuple[ast.Call | None, list[ast.expr | ast.keyword] | None]:
        """The call whose first operand is what was come to, and its other arguments; goes on to it."""
        node, above = self._node, self._above.get(self._node)
        call = self._above.get(above) if isinstance(above, ast.Attribute) else above
        if not isinstance(call, ast.Call):
            return None, None
        others: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        if call.func is not above:
            # the built-in `sum` adds rows; `abs` is alike
            of_library = isinstance(call.func, ast.Attribute) or _called(call) == "abs"
            if not call.args or call.args[0] is not node or not of_library:
                return None, None
            others = others[1:]
        self._passed.append(call)
        return call, others


def _axes_of_rows(made: ast.expr) -> int | None:
    """How many axes the text shows at least, where the new ones are those before the last: three in
    `a[:, None, :] - b[None, :, :]`, two in `a[:, None] - b[None]`, where a row may be a single number."""
    places = [_new_axis(each) for each in _operands(made)]
    shown = max(count for _, count in places)
    from_end = {place if place is None or place < 0 else place - max(shown, _AXES) for place, _ in places}
    if from_end != {-2, -3}:
        return None
    return max(shown, _AXES) if any(place is not None and place < 0 for place, _ in places) else shown


def _operands(made: ast.expr) -> Sequence[ast.expr]:
    return (made.left, made.right) if isinstance(made, ast.BinOp) else getattr(made, "args", ())[-2:]


def _new_axis(node: ast.expr) -> tuple[int | None, int]:
    """The place of the new axis (negative: from the end, as the text has it), and how many axes the text shows."""
    if isinstance(node, ast.Call):
        axis = _number(node.args[-1]) if node.args and _called(node) == "unsqueeze" else None
        return (int(axis) if axis is not None else None), 0
    if not isinstance(node, ast.Subscript):
        return None, 0
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    kept = [isinstance(each, ast.Slice) or _is_new(each) for each in parts]
    place = next((at for at, each in enumerate(parts) if _is_new(each)), None)
    return (place, len(parts)) if all(kept) else (None, 0)


def _is_new(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None
    return isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node).endswith("newaxis")


def _is_two(arguments: list[ast.expr | ast.keyword] | None, name: str) -> bool:
    if name == "square":
        return not arguments
    given = arguments or []
    return len(given) == 1 and not isinstance(given[0], ast.keyword) and _number(given[0]) == 2


def _axis(arguments: list[ast.expr | ast.keyword], place: int) -> int | None:
    """The one axis that is given, where nothing else is but the order of a norm before it."""
    named = {each.arg for each in arguments if isinstance(each, ast.keyword)}
    if named - _AXIS_NAMES - ({"p", "ord"} if place else set()) or len(arguments) > place + 1:
        return None
    given = _given(arguments, _AXIS_NAMES, place)
    axis = _number(given) if given is not None else None
    return int(axis) if axis is not None else None


def _given(arguments: list[ast.expr | ast.keyword], names: set[str], place: int) -> ast.expr | None:
    for each in arguments:
        if isinstance(each, ast.keyword) and each.arg in names:
            return each.value
    positional = [each for each in arguments if not isinstance(each, ast.keyword)]
    return positional[place] if place < len(positional) else None


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, int | float) else None


def _are_one_name(left: ast.expr, right: ast.expr) -> bool:
    return isinstance(left, ast.Name) and isinstance(right, ast.Name) and left.id == right.id


def _called(node: ast.AST) -> str:
    function = getattr(node, "func", None)
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _place(node: ast.AST, *, end: bool = False) -> tuple[int, int]:
    line, column = ("end_lineno", "end_col_offset") if end else ("lineno", "col_offset")
    return getattr(node, line, 0), getattr(node, column, 0)
