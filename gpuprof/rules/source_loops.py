"""Which loop of a cell ran the operators of a recorded one, by its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gpuprof.rules.cell_lines import MAGIC
from gpuprof.rules.independent_turns import Repeated, is_independent
from gpuprof.rules.known_calls import KnownCalls, dotted, words

# Operators that move or relabel what is there: many texts make them.
_BESIDE = words(
    """
    alias as_strided clone contiguous copy detach empty expand expand_as full index index_put is_nonzero item lift_fresh
    local_scalar_dense narrow numpy_T ones permute reshape resolve_conj resolve_neg result_type scalar_tensor select
    slice squeeze t to transpose unbind unsqueeze view zeros
    """
)
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.MatMult: "matmul",
    ast.Pow: "pow",
    ast.Mod: "remainder",
    ast.FloorDiv: "floordivide",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.USub: "neg",
    ast.Invert: "not",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_WRITTEN = {"normalize": ("norm", "clampmin", "div")}


def independent_lines(source: str, operators: Iterable[str]) -> tuple[int, ...]:
    """The first lines of the loops of a cell that run these operators (of one turn, `aten::…`, with repetitions).

    Empty where there is none, where one of them has turns that depend on one another, or where the cell cannot be read.
    A loop runs them if its text names each of them, at least as often; of loops within one another the innermost.
    """
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    calls, wanted = KnownCalls(tree), [name for each in operators if (name := _base(each)) not in _BESIDE]
    running = [each for each in ast.walk(tree) if isinstance(each, Repeated) and _runs(each, calls, wanted)]
    around = {outer for outer in running for inner in running if inner is not outer and inner in ast.walk(outer)}
    found = [each for each in running if each not in around]
    if not wanted or not all(is_independent(each, calls) for each in found):
        return ()
    return tuple(sorted({each.lineno for each in found}))


def _base(operator: str) -> str:
    return operator.rpartition("::")[2].strip("_")


def _runs(loop: Repeated, calls: KnownCalls, wanted: list[str]) -> bool:
    """Whether each operator finds a word of the text of its own."""
    named = [word for part in _repeated_parts(loop) for word in _words(part, calls, 0)]
    if isinstance(loop, ast.ListComp | ast.GeneratorExp):
        named.append("add")  # `sum(… for k in …)`
    for operator in sorted(wanted, key=len, reverse=True):
        word = next((each for each in named if _means(each, operator)), None)
        if word is None:
            return False
        named.remove(word)
    return True


def _repeated_parts(loop: Repeated) -> list[ast.AST]:
    if isinstance(loop, ast.For | ast.While):
        return list(loop.body)
    parts = [loop.key, loop.value] if isinstance(loop, ast.DictComp) else [loop.elt]
    return [*parts, *(test for each in loop.generators for test in each.ifs)]


def _words(part: ast.AST, calls: KnownCalls, depth: int) -> list[str]:
    """What the text names, without underscores: functions, methods, signs; of the cell's own functions what they do."""
    found: list[str] = []
    for node in ast.walk(part):
        if isinstance(node, ast.BinOp | ast.AugAssign | ast.UnaryOp):
            found.append(_SIGNS.get(type(node.op), ""))
        elif isinstance(node, ast.Compare):
            found += [_SIGNS.get(type(each), "") for each in node.ops]
        elif isinstance(node, ast.Call):
            found += _called(node, calls, depth)
    return [each for each in found if each]


def _called(call: ast.Call, calls: KnownCalls, depth: int) -> list[str]:
    text = dotted(call.func)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else text
    own = calls.function(text) if depth < _DEEPEST else None
    if own is not None:
        return [word for each in own.body for word in _words(each, calls, depth + 1)]
    made = calls.made_of(text)
    if made is not None:
        named = [each for each in ast.walk(made) if isinstance(each, ast.Call)]
        return [_plain(dotted(each.func).rpartition(".")[2]) for each in named]
    return list(_WRITTEN.get(name, (_plain(name),)))


_DEEPEST = 3


def _plain(name: str) -> str:
    plain = name.lower().replace("_", "")
    return plain.replace("bce", "binarycrossentropy").replace("loss", "") or plain


def _means(word: str, operator: str) -> bool:
    plain = operator.lower().replace("_", "").replace("loss", "")
    return (
        word == plain or (len(word) > 3 and word in plain) or plain in (f"r{word}", f"bitwise{word}", f"logical{word}")
    )
