"""Operations whose cost is that of all they go through, or of one call, however little of it is used: a table.

`operation_of` finds the first of them on a hot line, by its text and by what its names stood for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeGuard

from gpuprof.analyses.accounts.host_work import WorkLine
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.model.operands import Operand
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.reads.list_items import ARRAY, item_kind

# shorter ones are gone through in the time of a call
_LONG, _TABLE_ROWS = 64, 1000
_MOSTLY = 0.5
# a compiled pattern takes none
_COMPILING = 0.25
_GROWS = 2.0
_DEQUE = "collections.deque"
_LISTS = ("builtins.list", "builtins.tuple", _DEQUE)
_PICKS = ("sample", "choice", "choices")
_KEYED = ("builtins.dict", "builtins.set", "builtins.frozenset")
_PANDAS = "pandas."
_SEARCHES = ("index", "count", "remove")
_COPIES = ("list", "tuple", "sorted", "set", "frozenset", "dict", "deque", "sum", "min", "max")
_VIEWS = ("keys", "values", "items")
_WEIGHTS = ("p", "weights", "cum_weights")
_DRAWS = ("choice", "choices")
_ORDERS = ("permutation", "shuffle")
_MEMBERS = ("isin", "in1d", "setdiff1d", "intersect1d", "union1d")
_JOINS = ("concat", "append", "concatenate", "vstack", "hstack", "column_stack")
_MADE = ("array", "asarray", "stack", "vstack", "hstack", "concatenate", "column_stack")
_OF_NUMBERS = (
    "tensor",
    "as_tensor",
    "asarray",
    "Tensor",
    *(f"{each}Tensor" for each in ("Float", "Double", "Long", "Int")),
)
_STACKS = ("stack", "cat")
_ITEMS = ("iloc", "loc", "at", "iat", "iterrows", "itertuples")
_COMPILES = ("re._compiler.", "re._parser.")
_WRITES = (
    *("torch.serialization.save", "torch.serialization._save", "pickle._Pickler.", "json.dump", "safetensors."),
    *("numpy.lib._npyio_impl.save", "numpy.lib.npyio.save", "joblib.numpy_pickle.dump", "PIL.Image.Image.save"),
    *("pandas.io.formats.csvs.", "pandas.io.pickle.to_pickle", "pandas.io.parquet.to_parquet"),
)
# which format what they write
_WRITES_TEXT = frozenset({"to_csv", "to_json", "to_html", "to_latex", "to_excel", "to_markdown", "to_xml", "savetxt"})
_READS_FILES = "pandas.io."
_TEXTS = ("torch._tensor_str.", "numpy._core.arrayprint.", "numpy.core.arrayprint.", "pandas.io.formats.format.")
_DRAWINGS = ("matplotlib.", "seaborn.", "plotly.", "bokeh.")
# their objects are values that change, or tools: what is the same in all looks says nothing
_ACTS = ("step", "reset", "update", "write", "append", "add_scalar")
_PLAIN_KINDS = (
    "__main__.",
    "builtins.",
    "numpy.",
    "torch.",
    "collections.",
    "random.",
    "re.",
    "itertools.",
    "_io.",
    "pathlib.",
)


class Family(Enum):
    """What kind of work it is."""

    SEARCH = "search"
    MASK = "mask"
    COPY = "copy"
    DRAW = "draw"
    ORDER = "order"
    MEMBERS = "members"
    JOIN = "join"
    REREAD = "reread"
    TABLE = "table"
    PATTERN = "pattern"
    CLONE = "clone"
    WRITE = "write"
    TEXT = "text"
    PLOT = "plot"
    SAME = "same"
    LAST = "last"
    AGAIN = "again"
    CONVERT = "convert"
    NUMBERS = "numbers"
    ITEMS = "items"
    EXCESS = "excess"
    TOTAL = "total"
    WALK = "walk"


# the cost of these is that of everything in one object
OF_ALL = frozenset(
    {
        *(Family.SEARCH, Family.MASK, Family.COPY, Family.CONVERT, Family.DRAW, Family.ORDER, Family.MEMBERS),
        *(Family.JOIN, Family.REREAD, Family.TOTAL, Family.WALK),
    }
)
# slow at any time, also where it runs once
ALWAYS = frozenset({Family.NUMBERS, Family.EXCESS})


@dataclass(frozen=True)
class Operation:
    """`call`: the words of the text, or the library's function; `over`: what it goes through, where that is known;
    `line`: of the profiled cell, where the call is far from the lines that take the time; `loop`: that of the loop;
    `names`: what it gives a value. `turns`: how often it is computed for one that is needed, or how many times as long
    it takes as what does less, where that is known. `title`, `advice`: where those of the family do not say enough.
    `sure`: False where the library may have no other way."""

    family: Family
    call: str
    over: Operand | None = None
    line: int | None = None
    loop: int | None = None
    names: tuple[str, ...] = ()
    turns: int | None = None
    title: str = ""
    advice: str = ""
    sure: bool = True


_Found = Iterator[tuple[str, Operand | None]]


def operation_of(line: WorkLine, nodes: Sequence[ast.AST]) -> Operation | None:
    """The operation that takes most of that line, as far as it is one of the table; `nodes` of its statement."""
    seen = {each.name: each for each in line.operands if not each.callable}
    for family, find in _BY_TEXT:
        for call, over in find(line, nodes, seen):
            return Operation(family, call, over)
    return _by_library(line, nodes, seen)


def _searches(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`words.index(word)`, `word in words`."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SEARCHES:
            over = seen.get(dotted(node.func.value))
            if _is_kept(over, _LISTS, _LONG):
                yield f"{over.name}.{node.func.attr}", over
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            over = seen.get(dotted(node.comparators[0]))
            if _is_kept(over, (*_LISTS, ARRAY), _LONG):
                yield f"in {over.name}", over


def _masks(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`table[table.user == user]`, `np.where(ids == i)`."""
    for node in nodes:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            sides = [_base(each, seen) for each in (node.left, node.comparators[0])]
            large = [each for each in sides if _is_kept(each, (ARRAY, _PANDAS), _TABLE_ROWS)]
            # of two columns of one length all is needed
            if len(large) == 1 and large[0] is not None:
                yield f"{ast.unparse(node)}", large[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "query":
            over = _base(node.func.value, seen)
            if _is_kept(over, (_PANDAS,), _TABLE_ROWS):
                yield f"{over.name}.query", over


def _copies(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`list(memory)`, `zip(*memory)`, `sorted(words)`, `table.copy()`."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name == "zip" and len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            over = seen.get(dotted(node.args[0].value))
            if _is_kept(over, _LISTS, _TABLE_ROWS):
                yield f"zip(*{over.name})", over
        elif name in _COPIES and len(node.args) == 1:
            given = node.args[0]
            if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr in _VIEWS:
                given = given.func.value
            over = seen.get(dotted(given))
            if _is_kept(over, (*_LISTS, *_KEYED), _TABLE_ROWS):
                yield name, over
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            over = seen.get(dotted(node.func.value))
            if _is_kept(over, (*_LISTS, *_KEYED, ARRAY, _PANDAS), _TABLE_ROWS):
                yield f"{over.name}.copy", over


def _converts(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`np.array(self.states)[picked]`, `torch.tensor([row[1] for row in memory])`: of a list that stays the same
    object."""
    for call, given in _conversions(nodes):
        over = seen.get(dotted(_gone_through(given)))
        if _is_kept(over, _LISTS, _TABLE_ROWS):
            yield call, over


def _numbers(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`torch.tensor(rows)` of a list of arrays: torch asks for one number after another."""
    known = seen | {each.name: each for each in line.earlier}
    for call, given in _conversions(nodes):
        if call.startswith("torch.") and call.rpartition(".")[2] in _OF_NUMBERS and item_kind(given, known) == ARRAY:
            yield call, known.get(dotted(given))


def arrays_read(line: WorkLine, nodes: Sequence[ast.AST]) -> list[str]:
    """The texts of what torch reads number by number on a line: `rows` of `torch.tensor(rows)`."""
    known = {each.name: each for each in (*line.operands, *line.earlier) if not each.callable}
    read = [given for call, given in _conversions(nodes) if call.rpartition(".")[2] in _OF_NUMBERS]
    return [ast.unparse(given) for given in read if item_kind(given, known) == ARRAY]


def _conversions(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """The calls that make an array or a tensor, with what they make it of."""
    for node in nodes:
        if isinstance(node, ast.Call) and node.args:
            root, _, name = dotted(node.func).partition(".")
            if (root in ("np", "numpy") and name in _MADE) or (root == "torch" and name in (*_OF_NUMBERS, *_STACKS)):
                yield f"{root}.{name}", node.args[0]


def _gone_through(given: ast.expr) -> ast.expr:
    """`memory` of `[row[1] for row in memory]`, where nothing is left out or called; else what is given."""
    if isinstance(given, ast.ListComp | ast.GeneratorExp) and len(given.generators) == 1:
        only = given.generators[0]
        calls = any(isinstance(each, ast.Call) for each in ast.walk(given.elt))
        if not (only.ifs or calls or isinstance(given.elt, ast.Constant)):
            return only.iter
    return given


def _draws(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`rng.choice(n, p=weights)`: the table of the probabilities is summed up for each call."""
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.attr
        if name in _DRAWS:
            for each in node.keywords:
                over = seen.get(dotted(each.value)) if each.arg in _WEIGHTS else None
                if _is_kept(over, (*_LISTS, ARRAY), _LONG):
                    yield ast.unparse(node.func), over


def _orders(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`rng.permutation(ids)[:k]`, `random.shuffle(ids)`."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ORDERS:
            over = seen.get(dotted(node.args[0])) if node.args else None
            if _is_kept(over, (*_LISTS, ARRAY), _TABLE_ROWS):
                yield ast.unparse(node.func), over


def _members(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`np.isin(batch, known)`, `np.setdiff1d(everything, seen)`: all of both sides is sorted or gone through."""
    for node in nodes:
        if isinstance(node, ast.Call) and dotted(node.func).partition(".")[0] in ("np", "numpy"):
            if dotted(node.func).rpartition(".")[2] not in _MEMBERS:
                continue
            for each in node.args[:2]:
                over = seen.get(dotted(each))
                if _is_kept(over, (*_LISTS, ARRAY), _TABLE_ROWS):
                    yield dotted(node.func), over


def _joins(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`table = pd.concat([table, row])`."""
    for node in nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.Call):
            continue
        target, call = dotted(node.targets[0]), node.value
        inside = {dotted(each) for each in ast.walk(call) if isinstance(each, ast.Name | ast.Attribute)}
        joins = dotted(call.func).rpartition(".")[2] in _JOINS
        over = seen.get(target)
        if joins and target in inside and over is not None and _is(over, (ARRAY, _PANDAS), _LONG) and _grows(over):
            yield dotted(call.func), over


def _rereads(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`"".join(pieces[i] for i in ids)`, where `ids` gets longer."""
    for node in nodes:
        gone = [node.iter] if isinstance(node, ast.For | ast.comprehension) else []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
            gone += node.args
        for each in gone:
            over = seen.get(dotted(each))
            if _is(over, _LISTS, _TABLE_ROWS) and over.same and _grows(over):
                yield f"all of {over.name}", over


def _walks(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> _Found:
    """`random.sample(memory, n)`, `memory[i]` of a deque: each place is reached from its nearer end."""
    for node in nodes:
        of_one = None
        if isinstance(node, ast.Call) and node.args and dotted(node.func).rpartition(".")[2] in _PICKS:
            of_one, call = node.args[0], dotted(node.func)
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant | ast.UnaryOp):
            of_one, call = node.value, f"{ast.unparse(node.value)}[…]"
        over = seen.get(dotted(of_one)) if of_one is not None else None
        if _is_kept(over, (_DEQUE,), _TABLE_ROWS):
            yield call, over


_BY_TEXT: tuple[tuple[Family, Callable[[WorkLine, Sequence[ast.AST], dict[str, Operand]], _Found]], ...] = (
    (Family.SEARCH, _searches),
    (Family.MASK, _masks),
    (Family.COPY, _copies),
    (Family.CONVERT, _converts),
    (Family.NUMBERS, _numbers),
    (Family.DRAW, _draws),
    (Family.ORDER, _orders),
    (Family.MEMBERS, _members),
    (Family.JOIN, _joins),
    (Family.REREAD, _rereads),
    (Family.WALK, _walks),
)


def _by_library(line: WorkLine, nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> Operation | None:
    if line.below_share(*_COMPILES) >= _COMPILING:
        return Operation(Family.PATTERN, "re.compile")
    if line.below_share("copy.deepcopy") >= _MOSTLY:
        return Operation(Family.CLONE, "copy.deepcopy")
    if line.phase is Phase.PLOTTING or line.below_share(*_DRAWINGS) >= _MOSTLY:
        return Operation(Family.PLOT, _last(line.first))
    if line.first.rpartition(".")[2] in _WRITES_TEXT:
        return Operation(Family.WRITE, _last(line.first))
    if line.below_share(*_TEXTS) >= _MOSTLY:
        return Operation(Family.TEXT, _last(line.first))
    if line.below_share(*_WRITES) >= _MOSTLY:
        return Operation(Family.WRITE, _last(line.first))
    if line.below_share("pandas.") >= _MOSTLY and line.below_share(_READS_FILES) < _MOSTLY:
        taken = any(isinstance(node, ast.Attribute) and node.attr in _ITEMS for node in nodes)
        tables = [each for each in seen.values() if each.kind.startswith(_PANDAS)]
        over = max(tables, key=lambda each: (each.same, each.most or 0), default=None)
        return Operation(Family.TABLE, "pandas", over) if line.per_sample or taken else None
    for call, over in _given(nodes, seen):
        is_tool = over.same and not _is_value(over) and (over.holds or over.most or 0) >= _LONG
        # an environment, a bar of progress: another state each time
        if is_tool and max(line.own_share, line.below_share("torch.")) < _MOSTLY and not call.endswith(_ACTS):
            return Operation(Family.SAME, call, over)
    return None


def _is_value(over: Operand) -> bool:
    """Whether it is of a kind whose objects are values."""
    return over.kind.startswith(_PLAIN_KINDS)


def _given(nodes: Sequence[ast.AST], seen: dict[str, Operand]) -> Iterator[tuple[str, Operand]]:
    """The calls, with what they are given, or are methods of."""
    for node in nodes:
        if isinstance(node, ast.Call):
            parts = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            yield from ((ast.unparse(node.func), seen[name]) for each in parts if (name := dotted(each)) in seen)


def _base(node: ast.expr, seen: dict[str, Operand]) -> Operand | None:
    """What a column or an attribute belongs to: `self.df` of `self.df["user"]`; not what an item belongs to."""
    while True:
        found = seen.get(dotted(node))
        if found is not None or not isinstance(node, ast.Attribute | ast.Subscript):
            return found
        if isinstance(node, ast.Subscript) and not (
            isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        ):
            over = seen.get(dotted(node.value))
            return over if over is not None and over.kind.startswith(_PANDAS) else None
        node = node.value


def _is(over: Operand | None, kinds: tuple[str, ...], least: int) -> TypeGuard[Operand]:
    return over is not None and over.kind.startswith(kinds) and (over.most or 0) >= least


def _is_kept(over: Operand | None, kinds: tuple[str, ...], least: int) -> TypeGuard[Operand]:
    """The same object each time: all of a new one may be needed."""
    return _is(over, kinds, least) and over.same


def _grows(over: Operand) -> bool:
    return (over.most or 0) >= _GROWS * max(over.least or 0, 1)


def _last(name: str) -> str:
    """`torch.save` of `torch.serialization.save`."""
    package, _, function = name.partition(".")
    return f"{package}.{function.rpartition('.')[2]}" if function else name
