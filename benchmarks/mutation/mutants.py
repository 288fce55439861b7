"""The small faults: where they can be, what they are, and a sample of them.

Every fault replaces a piece of a file's text and leaves the rest of it as it is. These are the kinds:

- a comparison takes in its bound, leaves it out, or is turned around: `<` to `<=` or `>=`, `==` to `!=`, `is` to
  `is not`, `in` to `not in`
- arithmetic: `+` and `-`, `*` and `/`, `//` to `/`, `%` to `*`, `**` to `*`, `&` and `|`, `<<` and `>>`, and the same
  in `+=`; a sign is left out
- logic: `and` and `or`, `not` left out, a condition that is a plain value turned around
- a number plus one (where that is more than a thousandth of it), or half as much again; `True` and `False`
- smaller and larger: `min` and `max`, `any` and `all`, `np.minimum` and `np.maximum`, `floor` and `ceil`
- control: `return None` instead of a value, `break` and `continue`

Left out is what no test could or should notice: texts and docstrings, annotations, decorators, `if TYPE_CHECKING`,
`__repr__` and `__str__`, the arguments that change no result (NEUTRAL), and the size that `reshape` finds itself.
"""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "is": ("is not",), "is not": ("is",), "in": ("not in",), "not in": ("in",),
}  # fmt: skip
ARITHMETIC = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*", "&": "|", "|": "&", "^": "&", "<<": ">>",
    ">>": "<<",
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
    "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor", "cumsum": "cumprod",
}  # fmt: skip
# `strict` only guards against a fault elsewhere; the others say how, not what.
NEUTRAL = {"strict", "copy", "repr", "compare", "frozen", "slots", "maxsize", "stacklevel"}
UNTOLD = {"__repr__", "__str__"}


@dataclass(frozen=True)
class Mutant:
    """`module` is the package and the file's stem, wherever below the package the file is. `body`: within a function,
    and so run by tests rather than by an import. `statement`: the lines of the statement it is in."""

    package: str
    module: str
    path: str
    line: int
    statement: tuple[int, int]
    body: bool
    span: tuple[int, int]
    old: str
    new: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The same for the same fault after the file has moved or grown."""
        return self.module, self.source, self.change

    @property
    def change(self) -> str:
        """What becomes of what, on one line."""
        return f"{' '.join(self.old.split())} -> {' '.join(self.new.split()) or 'nothing'}"

    def applied(self, text: bytes) -> bytes:
        """The file's bytes with the fault in it."""
        return text[: self.span[0]] + self.new.encode() + text[self.span[1] :]


Site = tuple[int, int, tuple[str, ...]]
"""Where it begins and ends, in bytes, and what may stand there instead."""


class _Finder(ast.NodeVisitor):
    """Collects the sites of one file, with the statement of each and whether a function's body holds it."""

    def __init__(self, text: bytes) -> None:
        self.found: list[tuple[Site, ast.stmt, bool]] = []
        self._lines = [0]
        for line in text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._text = text
        self._tokens = list(_tokens(text, self._lines))
        self._statement: ast.stmt | None = None
        self._depth = 0

    def visit(self, node: ast.AST) -> None:
        before = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node
        super().visit(node)
        self._statement = before

    def _add(self, start: int, end: int, *instead: str) -> None:
        assert self._statement is not None
        self.found.append(((start, end, instead), self._statement, self._depth > 0))

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def _between(self, left: ast.expr, right: ast.expr, words: str) -> tuple[int, int]:
        """Where that operator stands between two operands."""
        start, stop = self._end(left), self._start(right)
        inside = [(a, b) for a, b, text in self._tokens if start <= a and b <= stop and text in words.split()]
        return inside[0][0], inside[-1][1]

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for at, op in enumerate(node.ops):
            word = _WORDS[type(op)]
            self._add(*self._between(operands[at], operands[at + 1], word), *COMPARISONS[word])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        word = _WORDS[type(node.op)]
        if word in ARITHMETIC and not any(_is_text(side) for side in (node.left, node.right)):
            self._add(*self._between(node.left, node.right, word), ARITHMETIC[word])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        word = _WORDS[type(node.op)]
        if word in ARITHMETIC and not _is_text(node.value):
            self._add(*self._between(node.target, node.value, f"{word}="), f"{ARITHMETIC[word]}=")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = "and" if isinstance(node.op, ast.And) else "or"
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._add(*self._between(left, right, word), "or" if word == "and" else "and")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start = self._start(node)
        word = b"not" if isinstance(node.op, ast.Not) else self._text[start : start + 1]
        rest = self._text[start + len(word) :]
        self._add(start, start + len(word) + len(rest) - len(rest.lstrip(b" ")), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value, start, end = node.value, self._start(node), self._end(node)
        if isinstance(value, bool):
            self._add(start, end, str(not value))
        elif isinstance(value, int | float):
            more = round(value * 1.5, 12) if isinstance(value, float) else value * 3 // 2
            larger = [more] if abs(value) > 1000 else [value + 1, more]
            self._add(start, end, *dict.fromkeys(repr(new) for new in larger if new != value))

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        if isinstance(called, ast.Name) and called.id in NAMES:
            self._add(self._start(called), self._end(called), NAMES[called.id])
        if isinstance(called, ast.Attribute) and called.attr in NAMES:
            end = self._end(called)
            self._add(end - len(called.attr), end, NAMES[called.attr])
        self.visit(called)
        for argument in node.args:
            if not _is_left_open(node, argument):
                self.visit(argument)
        for keyword in node.keywords:
            if keyword.arg not in NEUTRAL:
                self.visit(keyword.value)

    def visit_While(self, node: ast.If | ast.IfExp | ast.While) -> None:
        if isinstance(node.test, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            start, end = self._start(node.test), self._end(node.test)
            self._add(start, end, f"not {self._text[start:end].decode()}")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit_While(node)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.visit_While(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if not isinstance(node.value, ast.Constant) or node.value.value:  # what is false anyway is as good as None
            self._add(self._start(node.value), self._end(node.value), "None")
        self.visit(node.value)

    def visit_Break(self, node: ast.Break) -> None:
        self._add(self._start(node), self._end(node), "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(self._start(node), self._end(node), "break")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in UNTOLD:
            return
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text; and Python 3.11 does not know where its parts are."""


_WORDS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip


def _is_left_open(call: ast.Call, argument: ast.expr) -> bool:
    """The size that `reshape` finds by itself: any negative number asks for that."""
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "reshape"
    return named and isinstance(argument, ast.UnaryOp) and isinstance(argument.op, ast.USub)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _tokens(text: bytes, lines: list[int]) -> Iterator[tuple[int, int, str]]:
    """Operators and names with their bytes."""
    for token in tokenize.tokenize(io.BytesIO(text).readline):
        if token.type in (tokenize.OP, tokenize.NAME):
            start = lines[token.start[0] - 1] + len(token.line[: token.start[1]].encode())
            yield start, start + len(token.string.encode()), token.string


def mutants_of(path: Path, root: Path) -> list[list[Mutant]]:
    """All faults of a file, a list for each place, in the order of the text."""
    text = path.read_bytes()
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    lines = text.decode().splitlines()
    package = path.relative_to(root / "gpuprof").parts[0]
    places = []
    for (start, end, instead), statement, body in sorted(finder.found, key=lambda each: each[0]):
        line = text[:start].count(b"\n") + 1
        last = statement.end_lineno or statement.lineno
        common = {
            "package": package,
            "module": f"{package}/{path.stem}",
            "path": str(path.relative_to(root)),
            "line": line,
            "statement": (statement.lineno, last),
            "body": body,
            "span": (start, end),
            "old": text[start:end].decode(),
            "source": lines[line - 1].strip(),
        }
        places.append([Mutant(**common, new=new) for new in instead])  # type: ignore[arg-type]
    return places


def all_places(root: Path, packages: list[str]) -> dict[str, list[list[Mutant]]]:
    """For each package all places, in an order that does not change when modules move within it."""
    files = {package: list((root / "gpuprof" / package).rglob("*.py")) for package in packages}
    return {
        package: [
            place for path in sorted(paths, key=lambda each: (each.stem, each)) for place in mutants_of(path, root)
        ]
        for package, paths in files.items()
    }


LEAST = 20
"""Mutants from each package, so that its figure means something."""


def sample(places: dict[str, list[list[Mutant]]], count: int, seed: int) -> list[Mutant]:
    """So many places, by package in proportion to what it has, and one fault at each."""
    chance = random.Random(seed)
    total = sum(map(len, places.values()))
    chosen = []
    shares = {name: max(min(LEAST, count // len(places)), count * len(each) // total) for name, each in places.items()}
    largest = max(shares, key=lambda name: shares[name])
    shares[largest] += count - sum(shares.values())
    for name, share in shares.items():
        picked = sorted(chance.sample(range(len(places[name])), min(share, len(places[name]))))
        chosen += [chance.choice(places[name][at]) for at in picked]
    return chosen
