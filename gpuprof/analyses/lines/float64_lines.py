"""Which lines of the cell ask for double precision, or let NumPy's in."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.trace import Trace

_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_FLOAT64 = re.compile(r"(?:torch|np|numpy)\.(?:float64|double)$|'(?:float64|double)'$")
_NARROW = re.compile(r"float32|float16|bfloat16|\.half\b|int(?:8|16|32|64)|bool|long")
_FROM_NUMPY = ("from_numpy", "as_tensor")
_BECOMES_OTHER = ("float", "half", "bfloat16", "int", "long", "bool")
_OF_A_VALUE = ("tensor", "as_tensor", "scalar_tensor")
_CASTS = ("to", "type")


@dataclass(frozen=True)
class Float64Lines(Result):
    """`asked` (1-based): `.double()`, `.to(torch.float64)`, `dtype=torch.float64` of more than a single number,
    `set_default_dtype(torch.float64)`. `from_numpy`: arrays of NumPy, float64 unless they are something else, become
    tensors and are not converted in the same expression. Both empty where the source is not known."""

    asked: tuple[int, ...]
    from_numpy: tuple[int, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the cell's source."""
        cell = trace.context.cell
        try:
            # magic lines are not Python, but lines must keep their numbers
            tree = ast.parse(_MAGIC.sub(r"\1pass", cell.source if cell else ""))
        except (SyntaxError, ValueError, RecursionError):
            return cls((), ())
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        converted = {id(inner) for call in calls if _converts(call) for inner in ast.walk(call.func)}
        asked = {call.lineno for call in calls if _asks(call)}
        taken = {call.lineno for call in calls if _takes_numpy(call) and id(call) not in converted}
        return cls(tuple(sorted(asked)), tuple(sorted(taken)))


def _asks(call: ast.Call) -> bool:
    name = _name(call)
    if name == "double" or name == "DoubleTensor":
        return True
    given = call.args if name in (*_CASTS, "set_default_dtype") else []
    given = [*given, *(keyword.value for keyword in call.keywords if keyword.arg == "dtype")]
    return any(_FLOAT64.search(ast.unparse(each)) for each in given) and not _is_single(call)


def _is_single(call: ast.Call) -> bool:
    """`torch.zeros(())`, `torch.zeros(1)`, `torch.tensor(0.0)`: one number."""
    first = call.args[0] if len(call.args) == 1 else None
    if isinstance(first, ast.Constant):
        return _name(call) in _OF_A_VALUE or first.value == 1
    return isinstance(first, ast.Tuple | ast.List) and not first.elts


def _takes_numpy(call: ast.Call) -> bool:
    return _name(call) in _FROM_NUMPY and not _NARROW.search(ast.unparse(call))


def _converts(call: ast.Call) -> bool:
    """`.float()`, `.to(torch.float32)`."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    cast = _name(call) in _CASTS and any(_NARROW.search(ast.unparse(each)) for each in given)
    return isinstance(call.func, ast.Attribute) and (cast or call.func.attr in _BECOMES_OTHER)


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""
