"""Work on all of an array of which only a part is taken afterwards, by the text.

`x = np.power(photo, gamma)`, then `x = x[top:top + 96, left:left + 96]`: what is computed for each element by itself is
the same for those of the part alone. Functions of the text count where all that they do is of that kind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from gpuprof.analyses.containers.written_numbers import whole_number
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.pure_calls import words

_MODULES = ("np", "numpy", "torch", "jnp")
_OF_MODULES = words(
    "abs absolute exp exp2 expm1 log log2 log10 log1p sqrt square cbrt power pow float_power clip clamp where minimum "
    "maximum sin cos tan tanh arctan arcsin arccos sigmoid floor ceil round rint trunc sign isnan nan_to_num add "
    "subtract multiply divide true_divide mod remainder fabs negative hypot logaddexp float32 float64 float16 uint8 "
    "asarray ascontiguousarray"
)
_METHODS = words("astype clip clamp copy clone float double half abs sqrt pow exp log square add sub mul div round")
_DEEPEST = 3


class CroppedWork(NamedTuple):
    """`first` to `last` are the lines of the statement that takes the part of `name`; `lines` those of the work on all
    of it. `call`: its first function, or `name`; `sources`: the names that it starts with; `part`: the index as it is
    written; `kept`: the name that the part gets, empty where it gets none; `width`: how long the part is along the
    first axis, None where the text does not say or all of that axis is taken."""

    first: int
    last: int
    name: str
    lines: frozenset[int]
    call: str
    sources: tuple[str, ...]
    part: str
    kept: str
    width: int | None


class _Elementwise(NamedTuple):
    """What an expression computes element by element: from these names, with these calls. `works`: it does any."""

    names: tuple[str, ...]
    calls: tuple[ast.Call, ...]
    works: bool


@cache
def cropped_work(source: str) -> tuple[CroppedWork, ...]:
    """All of a text; empty where it cannot be parsed."""
    tree = parsed(source)
    if tree is None:
        return ()
    functions = _functions(tree)
    found = []
    for scope in (tree, *(each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))):
        for block in _blocks(scope):
            found += [each for at in range(len(block)) for each in _cropped(tree, scope, block, at, functions)]
    return tuple(found)


def _functions(tree: ast.Module) -> Mapping[str, ast.FunctionDef]:
    """By name, where the text has one of that name."""
    named: dict[str, list[ast.FunctionDef]] = {}
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef):
            named.setdefault(each.name, []).append(each)
    return {name: found[0] for name, found in named.items() if len(found) == 1}


def _blocks(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a function, or of the text outside of any."""
    waiting: list[ast.AST] = [scope]
    while waiting:
        node = waiting.pop()
        for field in ("body", "orelse", "finalbody", "handlers"):
            inside = getattr(node, field, None)
            if isinstance(inside, list) and inside and isinstance(inside[0], ast.stmt):
                yield inside
            waiting += [
                each
                for each in (inside if isinstance(inside, list) else ())
                if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            ]


def _cropped(
    tree: ast.Module,
    scope: ast.AST,
    block: Sequence[ast.stmt],
    at: int,
    functions: Mapping[str, ast.FunctionDef],
) -> Iterator[CroppedWork]:
    """The parts that one statement takes of what the statements before it have made."""
    statement = block[at]
    if not isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
        return
    for node in ast.walk(statement):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or not _takes_part(node):
            continue
        if isinstance(node.value, ast.Name):
            name, work = node.value.id, _made_before(scope, block, at, node.value.id, functions)
        else:
            reading = _reading(node.value, functions)
            name, work = "", [(statement, reading)] if reading is not None and reading.works else []
        if not work:
            continue
        made = {_target(each) for each, _ in work if each is not statement}
        names = [each for _, reading in work for each in reading.names]
        # given by the statement before the part is taken: what the work started with, in the order of the text
        sources = tuple(dict.fromkeys(each for each in names if each not in made or each in work[0][1].names))
        calls = [call for _, reading in work for call in reading.calls]
        yield CroppedWork(
            statement.lineno,
            statement.end_lineno or statement.lineno,
            name,
            frozenset(_lines([each for each, _ in work], calls, functions)),
            dotted(calls[0].func) if calls and dotted(calls[0].func) else name or ast.unparse(node.value),
            sources,
            ast.unparse(node.slice).strip("()"),
            _target(statement),
            _width(tree, node),
        )


def _made_before(
    scope: ast.AST, block: Sequence[ast.stmt], at: int, name: str, functions: Mapping[str, ast.FunctionDef]
) -> list[tuple[ast.stmt, _Elementwise]]:
    """The statements that make that name element by element, of which nothing but the statement `at` reads a result;
    in the order of the text."""
    found: list[tuple[ast.stmt, _Elementwise]] = []
    wanted: dict[str, ast.stmt] = {name: block[at]}  # by name the statement that reads it
    for statement in reversed(block[:at]):
        target = _target(statement)
        if target in wanted:
            reading = _statement_reading(statement, functions)
            reader = wanted.pop(target)
            if reading is not None and reading.works and _read_by(scope, target, statement, reader):
                found.append((statement, reading))
                wanted |= {each: statement for each in reading.names if each not in wanted}
                continue
        # what reads all of it needs all of it
        wanted = {each: reader for each, reader in wanted.items() if each not in _names(statement)}
        if not found and name not in wanted:
            break
    return found[::-1]


def _read_by(scope: ast.AST, name: str, made: ast.stmt, reader: ast.stmt) -> bool:
    """Whether the value that a statement gives this name is read by that reader alone."""
    if name == _target(reader):  # which gives it another value
        return True
    inside = {id(each) for one in (made, reader) for each in ast.walk(one)}
    loads = (each for each in ast.walk(scope) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
    return all(id(each) in inside for each in loads if each.id == name)


def _statement_reading(
    statement: ast.stmt, functions: Mapping[str, ast.FunctionDef], depth: int = 0
) -> _Elementwise | None:
    if isinstance(statement, ast.AugAssign):
        value = _reading(statement.value, functions, depth)
        target = dotted(statement.target)
        if value is None or not target or isinstance(statement.op, ast.MatMult):
            return None
        return _Elementwise((target, *value.names), value.calls, True)
    value_of = statement.value if isinstance(statement, ast.Assign | ast.Return) else None
    return None if value_of is None else _reading(value_of, functions, depth)


def _reading(node: ast.expr, functions: Mapping[str, ast.FunctionDef], depth: int = 0) -> _Elementwise | None:
    """None where it does anything else than computing with each element by itself."""
    if isinstance(node, ast.Constant):
        return _Elementwise((), (), False)
    if name := dotted(node):
        return _Elementwise(() if name.partition(".")[0] in _MODULES else (name,), (), False)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return _joined([node.left, node.right], (), functions, depth)
    if isinstance(node, ast.UnaryOp):
        return _joined([node.operand], (), functions, depth)
    if isinstance(node, ast.Compare):
        return _joined([node.left, *node.comparators], (), functions, depth)
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    root, _, name = dotted(node.func).rpartition(".")
    keywords = [each.value for each in node.keywords]
    if root in _MODULES and name in _OF_MODULES:
        return _joined([*node.args, *keywords], (node,), functions, depth)
    if isinstance(node.func, ast.Attribute) and root not in _MODULES and node.func.attr in _METHODS:
        return _joined([node.func.value, *node.args, *keywords], (node,), functions, depth)
    called = functions.get(name) if root in ("", "self") else None
    if called is not None and depth < _DEEPEST and _is_elementwise(called, functions, depth + 1):
        return _joined([*node.args, *keywords], (node,), functions, depth)
    return None


def _joined(
    parts: Sequence[ast.expr],
    calls: tuple[ast.Call, ...],
    functions: Mapping[str, ast.FunctionDef],
    depth: int,
) -> _Elementwise | None:
    read = [_reading(each, functions, depth) for each in parts]
    known = [each for each in read if each is not None]
    if len(known) < len(read):
        return None
    names = tuple(dict.fromkeys(name for each in known for name in each.names))
    return _Elementwise(names, (*calls, *(call for each in known for call in each.calls)), True)


def _is_elementwise(function: ast.FunctionDef, functions: Mapping[str, ast.FunctionDef], depth: int) -> bool:
    body = [each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    plain = all(isinstance(each, ast.Assign | ast.AugAssign | ast.Return) for each in body)
    targets = [each for each in body if isinstance(each, ast.Assign)]
    if not plain or not body or not isinstance(body[-1], ast.Return) or function.decorator_list:
        return False
    if any(len(each.targets) != 1 or not isinstance(each.targets[0], ast.Name) for each in targets):
        return False
    return all(_statement_reading(each, functions, depth) is not None for each in body)


def _takes_part(node: ast.Subscript) -> bool:
    """Slices with an end of their own, of an array: `x[a:b, c:d]`, `x[:, :k]`; no lengths of texts, no masks."""
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    slices = [each for each in parts if isinstance(each, ast.Slice)]
    rest = [each for each in parts if not isinstance(each, ast.Slice)]
    bounded = any(each.lower is not None or each.upper is not None for each in slices)
    return bounded and all(isinstance(each, ast.Constant) and each.value in (None, ...) for each in rest)


def _width(tree: ast.Module, node: ast.Subscript) -> int | None:
    """96 of `[top:top + 96]`, `[:96]`, along the first axis."""
    part = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    if not isinstance(part, ast.Slice) or part.upper is None or part.step is not None:
        return None
    upper = part.upper
    if part.lower is None:
        number = whole_number(tree, upper)
    elif isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
        start = ast.unparse(part.lower)
        sides = [each for each in (upper.left, upper.right) if ast.unparse(each) != start]
        number = whole_number(tree, sides[0]) if len(sides) == 1 else None
    else:
        ends = whole_number(tree, part.lower), whole_number(tree, upper)
        number = ends[1] - ends[0] if ends[0] is not None and ends[1] is not None else None
    return number if number is not None and number > 0 else None


def _lines(
    statements: Sequence[ast.stmt], calls: Sequence[ast.Call], functions: Mapping[str, ast.FunctionDef], depth: int = 0
) -> Iterator[int]:
    for each in statements:
        yield from range(each.lineno, (each.end_lineno or each.lineno) + 1)
    for call in calls:
        called = functions.get(dotted(call.func).rpartition(".")[2]) if dotted(call.func) else None
        if called is not None and depth < _DEEPEST:
            inner = [each for each in ast.walk(called) if isinstance(each, ast.Call) and each is not call]
            yield from _lines(called.body, inner, functions, depth + 1)


def _target(statement: ast.stmt) -> str:
    """The one name that it gives a value to; empty where it is none or several."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0].id if isinstance(statement.targets[0], ast.Name) else ""
    return (
        statement.target.id if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) else ""
    )


def _names(statement: ast.stmt) -> set[str]:
    return {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
