"""Which loop of a cell ran the operators of a recorded one, by its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.cell_lines import MAGIC
from gpuprof.rules.cell.independent_iterations import Repeated, is_independent, is_repeated
from gpuprof.rules.cell.pure_calls import PureCalls, is_map, words

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
_DEEPEST = 4
_WRITTEN = {"normalize": ("norm", "clampmin", "div")}


def independent_lines(source: str, operators: Iterable[str]) -> tuple[int, ...]:
    """The first lines of the loops of a cell that run these operators (of one turn, `aten::…`, with repetitions).

    Empty where there is none, where one of them has turns that depend on one another, or where the cell cannot be read.
    A loop runs them if its text, with that of the cell's functions and modules that it calls, names each of them, at
    least as often but for loops inside; of loops within one another the innermost.
    """
    wanted = [name for each in operators if (name := _base(each)) not in _BESIDE]
    try:
        found, calls = _running(ast.parse(MAGIC.sub(r"\1pass", source)), wanted)
        if not all(is_independent(each, calls) for each in found):
            return ()
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(sorted({each.lineno for each in found}))


def _running(tree: ast.AST, wanted: list[str]) -> tuple[list[Repeated], PureCalls]:
    """The innermost loops that run these."""
    calls = PureCalls(tree)
    loops = [each for each in ast.walk(tree) if is_repeated(each)] if wanted else []
    reached = {each: [*_reached(_repeated_parts(each), calls)] for each in loops}
    running = {each: {node for node, _ in reached[each]} for each in loops if _runs(each, reached[each], calls, wanted)}
    return [each for each, inside in running.items() if not inside & (running.keys() - {each})], calls


def _base(operator: str) -> str:
    return operator.rpartition("::")[2].strip("_")


def _reached(
    parts: Iterable[ast.AST], calls: PureCalls, often: bool = False, depth: int = 0
) -> Iterator[tuple[ast.AST, bool]]:
    """Each node of these parts of a turn and of what they call, with whether a loop inside the turn repeats it."""
    for node in parts:
        yield node, often
        inside = often or is_repeated(node)
        yield from _reached(ast.iter_child_nodes(node), calls, inside, depth)
        if isinstance(node, ast.Call) and depth < _DEEPEST:
            many = inside or calls.is_many(node)
            for own in calls.runs(node):
                yield from _reached(own.body, calls, many, depth + 1)


def _runs(loop: Repeated, reached: list[tuple[ast.AST, bool]], calls: PureCalls, wanted: list[str]) -> bool:
    """Whether each operator finds a word of the text of its own, or one that a loop inside repeats."""
    once: list[str] = []
    many: set[str] = set()
    for node, often in reached:
        named = [word for word in _words(node, calls) if word]
        if often or (isinstance(node, ast.Call) and calls.is_many(node)):
            many.update(named)
        else:
            once += named
    if isinstance(loop, ast.ListComp | ast.GeneratorExp | ast.Call):
        once.append("add")  # `sum(… for k in …)`
    for operator in sorted(wanted, key=len, reverse=True):
        if any(_means(each, operator) for each in many):
            continue
        word = next((each for each in once if _means(each, operator)), None)
        if word is None:
            return False
        once.remove(word)
    return True


def _repeated_parts(loop: Repeated) -> list[ast.AST]:
    if isinstance(loop, ast.For | ast.While):
        return list(loop.body)
    if isinstance(loop, ast.Call):
        function = loop.args[0]
        return [function.body if isinstance(function, ast.Lambda) else ast.Call(function, [], [])]
    parts = [loop.key, loop.value] if isinstance(loop, ast.DictComp) else [loop.elt]
    return [*parts, *(test for each in loop.generators for test in each.ifs)]


def _words(node: ast.AST, calls: PureCalls) -> list[str]:
    """What a node names, without underscores: a function, a method, signs; of modules their classes."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.UnaryOp):
        return [_SIGNS.get(type(node.op), "")]
    if isinstance(node, ast.Compare):
        return [_SIGNS.get(type(each), "") for each in node.ops]
    if not isinstance(node, ast.Call) or is_map(node):
        return []
    if made := calls.makers(node):
        return [_plain(dotted(each.func).rpartition(".")[2]) for each in made]
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
    return [] if calls.runs(node) else list(_WRITTEN.get(name, (_plain(name),)))


def _plain(name: str) -> str:
    plain = name.lower().replace("_", "")
    return plain.replace("bce", "binarycrossentropy").replace("loss", "") or plain


def _means(word: str, operator: str) -> bool:
    plain = operator.lower().replace("_", "").replace("loss", "")
    return (
        word == plain or (len(word) > 3 and word in plain) or plain in (f"r{word}", f"bitwise{word}", f"logical{word}")
    )
