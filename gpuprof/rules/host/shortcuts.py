"""Calls on the host that do far more than is used of them, with the algorithm that does less: a table.

Each entry looks at a function and at what the text of its line uses of the result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gpuprof.analyses.accounts.host_work import WorkLine
from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.containers.written_numbers import whole_number
from gpuprof.analyses.demand import algorithm_costs
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.cropped_work import CroppedWork, cropped_work
from gpuprof.rules.cell.decomposition_text import TIMES_AS_LONG, partly_used
from gpuprof.rules.cell.one_matrix import solved_with_one_matrix
from gpuprof.rules.cell.used_part import is_few, uses_few
from gpuprof.rules.host.operations import Family, Operation
from gpuprof.rules.reads.columns_read import copied_columns

_MOSTLY = 0.5
# a call on fewer takes as long as the call of it
_MANY = 1000
_ROW = 256
# by formulas of operations alone a factor is not known better: what selecting takes of sorting
_SORTED_IN_SELECTED = 3
_TAPS = 500
_LEAST_FACTOR = 3
# of a smaller system the factors take as long as the call; by operations n/3 times as long as a solution with them,
# which reads memory instead of computing
_SYSTEM = 64
_MOST_FACTOR, _SPARSE_FACTOR = 12, 5
# of less the part is most of the array
_LEAST_CROPPED = 2
_TENSORS = ("numpy.ndarray", "torch.Tensor")
_ARRAY, _LIST = "numpy.ndarray", ("builtins.list", "builtins.tuple", "collections.deque")
_LEGACY = "numpy.random.mtrand.RandomState"
_GLOBAL = ("np.random", "numpy.random")
_CHEAP = frozenset(
    {
        *(
            "len",
            "range",
            "list",
            "tuple",
            "zip",
            "enumerate",
            "abs",
            "int",
            "float",
            "bool",
            "items",
            "keys",
            "values",
        ),
        *("append", "add", "extend", "tolist", "from_numpy"),
    }
)


class Shortcut(NamedTuple):
    """`call` does more than is used of it, `title` says so; `advice`: what does less. `over`: what it goes through.
    `factor`: how many times as long it takes, where that is known."""

    call: ast.Call
    title: str
    advice: str
    over: Operand | None = None
    factor: int | None = None


class _Line(NamedTuple):
    line: WorkLine
    nodes: Sequence[ast.AST]
    source: str
    tree: ast.Module
    seen: dict[str, Operand]

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Each call with the last part of its name."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
                yield node, name

    def owner(self, call: ast.Call) -> str:
        """`rng` of `rng.choice(n)`."""
        return dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def shortcut_of(line: WorkLine, nodes: Sequence[ast.AST], source: str) -> Operation | None:
    """The call that takes most of that line, where less would do. `nodes`: of its statement, of `parsed(source)`."""
    tree = parsed(source)
    if tree is None:
        return None
    seen = {each.name: each for each in line.operands if not each.callable}
    place = _Line(line, nodes, source, tree, seen)
    for find in _TABLE:
        for each in find(place):
            if _takes_most(place, each.call):
                name = ast.unparse(each.call.func)
                title = each.title.format(call=name)
                advice = each.advice.format(call=name)
                return Operation(Family.EXCESS, name, each.over, turns=each.factor, title=title, advice=advice)
    return None


def _takes_most(place: _Line, call: ast.Call) -> bool:
    """By the frames of the function, else it is one without, and nothing else of the line takes long."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    if any(share >= _MOSTLY and full.rpartition(".")[2] == name for full, share in place.line.below):
        return True
    inside = {id(each) for each in ast.walk(call.func)}
    others = [name for each, name in place.calls() if each is not call and id(each) not in inside]
    return place.line.own_share >= _MOSTLY and all(each in _CHEAP for each in others)


def _sorted(place: _Line) -> Iterator[Shortcut]:
    """`np.argsort(scores)[:10]`, `sorted(pairs)[:k]`, `table.sort_values("x").head(3)`."""
    for call, name in place.calls():
        owner, plain = place.owner(call), name == "sorted" and isinstance(call.func, ast.Name)
        if plain or (name in ("argsort", "sort") and owner in ("np", "numpy")):
            given = call.args[0] if call.args else None
        elif name == "argsort" or name == "sort_values":
            given = call.func.value if isinstance(call.func, ast.Attribute) else None
        else:
            continue
        over, long_enough = _length(place, given)
        pandas = name == "sort_values"
        kinds = ("pandas.",) if pandas else (*_LIST, "builtins.dict", "builtins.set", _ARRAY) if plain else (_ARRAY,)
        wrong_kind = over is not None and not over.kind.startswith(kinds)
        if not long_enough or wrong_kind or not uses_few(place.source, place.nodes, call):
            continue
        yield Shortcut(
            call,
            "`{call}` sorts all of it, but only the first few are used",
            "Use `heapq.nsmallest(k, items)` or `heapq.nlargest(k, items)` (`min` or `max` for one): they go through "
            "the items once."
            if plain
            else "Use `nsmallest(k, column)` or `nlargest(k, column)`, which do not sort the rest."
            if pandas
            else "Select the few with `np.argpartition(x, k)[:k]` for the smallest, or `np.argpartition(x, -k)[-k:]` "
            "for the largest (`np.partition` for values, `argmin` or `argmax` for one), and sort those alone.",
            over,
            _SORTED_IN_SELECTED,
        )


def _length(place: _Line, given: ast.expr | None) -> tuple[Operand | None, bool]:
    """What is sorted, and whether it is long: `scores`, `-scores`, a row `distances[i]` of a large table."""
    if isinstance(given, ast.UnaryOp):
        given = given.operand
    is_row = isinstance(given, ast.Subscript)
    if isinstance(given, ast.Subscript):
        given = given.value
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "items":
        given = given.func.value
    over = place.seen.get(dotted(given)) if given is not None else None
    return over, over is not None and (over.least or 0) >= (_ROW if is_row else _MANY)


def _draws(place: _Line) -> Iterator[Shortcut]:
    """`np.random.choice(n, k, replace=False)`, `rng.permutation(n)[:k]`, `random.sample(list(range(n)), k)`."""
    if not place.line.depth and not place.line.per_sample:
        return
    for call, name in place.calls():
        owner = place.owner(call)
        kind = place.seen[owner].kind if owner in place.seen else ""
        if name == "choice" and (owner in _GLOBAL or kind == _LEGACY) and _without_replacement(call):
            size = _argument(call, 1, "size")
            if size is not None and _is_less(place, size, call.args[0] if call.args else None):
                yield Shortcut(
                    call,
                    "`{call}` shuffles everything to draw a few",
                    "Draw with a generator: `rng = np.random.default_rng(seed)` once, then `rng.choice(n, size, "
                    "replace=False)`, which draws only what it needs.",
                )
        elif name == "permutation" and owner and uses_few(place.source, place.nodes, call):
            yield Shortcut(
                call,
                "`{call}` shuffles everything, but only the first few are used",
                "Draw the few with a generator (`np.random.default_rng()`): `rng.choice(n, k, replace=False)`.",
            )
        elif name == "sample" and owner == "random" and call.args and _is_listed_range(call.args[0]):
            yield Shortcut(
                call,
                "`{call}` is given a new list of all numbers for each draw",
                "Give it the range itself: `random.sample(range(n), k)`.",
            )


def _without_replacement(call: ast.Call) -> bool:
    replaced = _argument(call, 2, "replace")
    weighted = _argument(call, 3, "p")
    return isinstance(replaced, ast.Constant) and replaced.value is False and weighted is None


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if len(call.args) > position:
        return call.args[position]
    return next((each.value for each in call.keywords if each.arg == name), None)


def _is_less(place: _Line, size: ast.expr, among: ast.expr | None) -> bool:
    """Whether so few are drawn: the text says so, or at least not that it is a part of all of them."""
    drawn = whole_number(place.tree, size)
    whole = whole_number(place.tree, among) if among is not None else None
    if whole is None and isinstance(among, ast.Call) and dotted(among.func) == "len" and among.args:
        over = place.seen.get(dotted(among.args[0]))
        whole = over.least if over is not None else None
    if whole is not None and (whole < _MANY or (drawn is not None and 4 * drawn > whole)):
        return False
    return is_few(place.tree, size)


def _is_listed_range(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or dotted(node.func) != "list" or len(node.args) != 1:
        return False
    inner = node.args[0]
    return isinstance(inner, ast.Call) and dotted(inner.func) == "range"


def _convolutions(place: _Line) -> Iterator[Shortcut]:
    """`np.convolve(wave, room)` of two long arrays: it sums directly."""
    for call, name in place.calls():
        owner = place.owner(call)
        direct = name in ("convolve", "correlate") and owner in ("np", "numpy")
        asked = _argument(call, 3, "method")
        direct |= name in ("convolve", "correlate") and isinstance(asked, ast.Constant) and asked.value == "direct"
        if not direct or len(call.args) < 2:
            continue
        sides = [_longest_array(place, each) for each in call.args[:2]]
        if any(each is None for each in sides):
            continue
        short, long = sorted((each.least or 0) for each in sides if each is not None)
        factor = int(algorithm_costs.convolution(1, 1, 1, 1, short, long)) if short else 1
        kernel = min((each for each in sides if each is not None), key=lambda each: each.least or 0)
        if short >= _TAPS and factor >= _LEAST_FACTOR:
            yield Shortcut(
                call,
                "`{call}` sums directly over a long kernel",
                "Convolve by FFT: `scipy.signal.fftconvolve(a, v)` (`oaconvolve` where one is much longer) gives the "
                "same up to rounding, with the same `mode`; for `correlate`: `scipy.signal.correlate(a, v, "
                "method='fft')`.",
                kernel,
                factor,
            )


def _longest_array(place: _Line, node: ast.expr) -> Operand | None:
    """The array that an expression is as long as: `k` of `k`, `k[::-1]` and `0.5 * k`; None for anything else."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        whole = node.slice.lower is None and node.slice.upper is None
        return _longest_array(place, node.value) if whole else None
    if isinstance(node, ast.BinOp):
        sides = [_longest_array(place, each) for each in (node.left, node.right)]
        return max((each for each in sides if each is not None), key=lambda each: each.least or 0, default=None)
    over = place.seen.get(dotted(node))
    return over if over is not None and over.kind == _ARRAY else None


def _products(place: _Line) -> Iterator[Shortcut]:
    """`np.linalg.inv(A) @ b`, `np.diag(A @ B)`, `np.trace(A @ B)`."""
    for node in place.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and isinstance(node.left, ast.Call):
            if dotted(node.left.func).endswith("linalg.inv") and place.owner(node.left).startswith(("np", "numpy")):
                yield Shortcut(
                    node.left,
                    "`{call}` makes an inverse that is only multiplied",
                    "Solve instead: `np.linalg.solve(A, b)` for `np.linalg.inv(A) @ b` "
                    "(`scipy.linalg.cho_solve` where A is symmetric and positive definite).",
                    factor=_LEAST_FACTOR - 1,
                )
        elif isinstance(node, ast.Call) and place.owner(node) in ("np", "numpy") and node.args:
            name, given = dotted(node.func).rpartition(".")[2], node.args[0]
            product = isinstance(given, ast.BinOp) and isinstance(given.op, ast.MatMult)
            if name in ("diag", "diagonal", "trace") and product and len(node.args) == 1:
                yield Shortcut(
                    node,
                    "`{call}` uses only the diagonal of a full product",
                    "Compute the diagonal alone: `np.einsum('ij,ji->i', A, B)`, or `(A * B.T).sum(1)`; its sum is the "
                    "trace.",
                )


def _decompositions(place: _Line) -> Iterator[Shortcut]:
    """`u, s, vt = np.linalg.svd(x)` where `u` is left out, or read by its first columns."""
    for node in place.nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.targets) != 1:
            continue
        call, target = node.value, node.targets[0]
        given = {each.arg for each in call.keywords}
        if dotted(call.func).rpartition(".")[2] != "svd" or given & {"full_matrices", "compute_uv"}:
            continue
        over = place.seen.get(dotted(call.args[0])) if len(call.args) == 1 else None
        dropped = isinstance(target, ast.Tuple) and len(target.elts) == 3 and dotted(target.elts[0]) == "_"
        if over is not None and over.kind == _ARRAY and (over.least or 0) >= _MANY and dropped:
            yield Shortcut(
                call,
                "`{call}` makes full matrices of which one is not used",
                "Give it `full_matrices=False`, which makes only the first columns; where only the singular values "
                "are read, `compute_uv=False`.",
                over,
            )


def _columns(place: _Line) -> Iterator[Shortcut]:
    """`table.sample(n)` of a wide table, of which two columns are read."""
    for call, over, width, columns in copied_columns(place.source, place.nodes, place.seen):
        yield Shortcut(
            call,
            f"`{{call}}` copies {width} columns, of which {len(columns)} are read",
            "Before the loop, make a table of the columns that are read, and give the loop that one: "
            f"`{over.name}[{list(columns)}]`.",
            over,
            min(width // len(columns), _MOST_FACTOR),
        )


def _parts(place: _Line) -> Iterator[Shortcut]:
    """`w, v = np.linalg.eigh(cov)` where only `v[:, -k:]` is read."""
    for call, title, advice in partly_used(place.source, place.nodes):
        over, long_enough = _length(place, call.args[0] if call.args else None)
        if long_enough or over is None or (over.least or 0) >= _ROW:
            yield Shortcut(call, title, advice, over, TIMES_AS_LONG)


def _systems(place: _Line) -> Iterator[Shortcut]:
    """`np.linalg.solve(A, b)` in a loop that does not change `A`."""
    inside = {(each.lineno, each.col_offset) for each, _ in place.calls()}
    for one in solved_with_one_matrix(place.source):
        over = place.seen.get(one.matrix)
        if (one.call.lineno, one.call.col_offset) not in inside or over is None or not over.same:
            continue
        rows = over.least or 0
        is_matrix = over.kind.startswith("scipy.sparse") if one.sparse else over.kind == _ARRAY and rows >= _SYSTEM
        if is_matrix:
            factor = _SPARSE_FACTOR if one.sparse else min(rows // _SYSTEM, _MOST_FACTOR)
            yield Shortcut(
                one.call, "`{call}` factorizes the same matrix each time", one.advice, over, max(factor, _LEAST_FACTOR)
            )


def cropped_operation(line: WorkLine, source: str, seen: Operands | None) -> Operation | None:
    """What the line is a part of, where the array is known to be twice as large as the part, or more."""
    for each in cropped_work(source):
        if line.line not in each.lines:
            continue
        around = {one.name: one for one in operands_at(seen, line.file, each.first) if one.kind in _TENSORS}
        whole = _cropped_whole(each, around)
        factor = None if whole is None else _cropped_factor(each, whole, around)
        if whole is not None and factor is not None and factor >= _LEAST_CROPPED:
            return Operation(
                Family.EXCESS,
                each.call,
                whole,
                turns=factor,
                title=f"`{each.call}` works on all of `{whole.name}`, of which a part is taken afterwards",
                advice=f"Take the part first, and compute on that alone: `{whole.name}[{each.part}]`, and the same "
                f"part of what is as large. Line {each.first} takes it afterwards. What is computed for each element "
                "by itself gives the same.",
            )
    return None


def _cropped_whole(work: CroppedWork, around: Mapping[str, Operand]) -> Operand | None:
    """The largest of the arrays that it starts with."""
    given = [around[name] for name in work.sources if name in around]
    return max(given, key=lambda each: each.most_elements or 0, default=None)


def _cropped_factor(work: CroppedWork, whole: Operand, around: Mapping[str, Operand]) -> int | None:
    """How many times as large it is, by the sizes of both, else along the first axis alone; None where not known."""
    kept = around.get(work.kept)
    anew = work.kept in work.sources  # the name also stands for the part: its sizes are of both
    if kept is not None and not anew and whole.fewest_elements:
        # before the part was taken it may have stood for all of it
        part = kept.fewest_elements if work.kept == work.name else kept.most_elements
        if part and whole.fewest_elements >= _LEAST_CROPPED * part:
            return whole.fewest_elements // part
    length = whole.most if anew else whole.least
    return length // work.width if length and work.width else None


_TABLE: tuple[Callable[[_Line], Iterator[Shortcut]], ...] = (
    _sorted,
    _draws,
    _convolutions,
    _products,
    _parts,
    _decompositions,
    _systems,
    _columns,
)
