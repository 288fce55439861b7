"""What a line of the text differentiates in full, and whether the result is only multiplied with one vector."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted

_TRANSFORMS = ("jacrev", "jacfwd", "hessian")
_FUNCTIONS = ("jacobian", "hessian")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Apart = (
    ast.For | ast.AsyncFor | ast.While | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
    | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
)  # fmt: skip


@dataclass(frozen=True)
class DerivativeText:
    """`function`: what is differentiated, as it is written; `given`: the name of its one argument; `result`: the name
    that the derivative is given to, or empty. `vector`: the name of what it is multiplied with, where it is used for
    nothing else, or empty; `from_left`: the vector stands on the left, or the derivative is transposed."""

    function: str
    given: str
    result: str = ""
    vector: str = ""
    from_left: bool = False


def derivative_text(source: str, line: int, *, transform: bool) -> DerivativeText | None:
    """Of the one call on that line that computes a full derivative: of `torch.func` (`jacrev(f)(x)`, or by a name that
    stands for `jacrev(f)`), else of `torch.autograd.functional`. None where the text does not tell."""
    tree = parsed(source)
    if tree is None:
        return None
    read = [each for node in expressions_at(source, line) if isinstance(node, ast.Call)
            if (each := (_of_transform if transform else _of_function)(tree, node)) is not None]  # fmt: skip
    if len(read) != 1:
        return None
    call, function, given = read[0]
    if not dotted(given):
        return None
    found = DerivativeText(ast.unparse(function), dotted(given))
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    statement = parents.get(id(call))
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
        product = _only_product(tree, parents, statement, name)
        return DerivativeText(found.function, found.given, name, *(product or ()))
    product = _product(parents, call)
    return DerivativeText(found.function, found.given, "", *product) if product else found


_Read = tuple[ast.Call, ast.expr, ast.expr]


def _of_transform(tree: ast.Module, call: ast.Call) -> _Read | None:
    made: ast.expr | None = call.func
    if not isinstance(made, ast.Call):
        made = _given_once(tree, dotted(call.func))
    if not isinstance(made, ast.Call) or _known_as(tree, made.func) not in _TRANSFORMS:
        return None
    plain = len(made.args) == 1 and all(each.arg == "chunk_size" for each in made.keywords)
    return (call, made.args[0], call.args[0]) if plain and call.args else None


def _of_function(tree: ast.Module, call: ast.Call) -> _Read | None:
    if _known_as(tree, call.func) not in _FUNCTIONS:
        return None
    named = {each.arg: each.value for each in call.keywords}
    function = call.args[0] if call.args else named.get("func")
    given = call.args[1] if len(call.args) > 1 else named.get("inputs")
    created = named.get("create_graph")
    if function is None or given is None or not (created is None or getattr(created, "value", True) is False):
        return None
    return call, function, given


def _known_as(tree: ast.Module, node: ast.expr) -> str:
    """The last part of a name, before an import renamed it."""
    name = dotted(node)
    for each in ast.walk(tree):
        for alias in each.names if isinstance(each, ast.ImportFrom) else ():
            if alias.asname == name:
                return alias.name
    return name.rpartition(".")[2]


def _given_once(tree: ast.Module, name: str) -> ast.expr | None:
    given = [
        each.value for each in ast.walk(tree) if isinstance(each, ast.Assign) and name in map(dotted, each.targets)
    ]
    return given[0] if name and len(given) == 1 else None


def _only_product(
    tree: ast.Module, parents: dict[int, ast.AST], statement: ast.Assign, name: str
) -> tuple[str, bool] | None:
    """The vector of the one read of the name, after the statement and as often as it; None where it is used in another
    way, or other cells may read it."""
    above = list(_above(parents, statement))
    around: ast.AST = next((each for each in above if isinstance(each, _Function)), tree)
    if around is tree and not any(isinstance(each, ast.For | ast.While) for each in above):
        return None
    uses = [each for each in ast.walk(around) if isinstance(each, ast.Name) and each.id == name]
    reads = [each for each in uses if isinstance(each.ctx, ast.Load)]
    if len(reads) != 1 or len(uses) != 2 or reads[0].lineno <= statement.lineno:
        return None
    block = above[0]
    between = []
    for each in _above(parents, reads[0]):
        if each is block:
            break
        between.append(each)
    else:
        return None
    same_branch = _branch(block, statement) is _branch(block, between[-1]) if between else False
    if not same_branch or any(isinstance(each, _Apart) for each in between):
        return None
    return _product(parents, reads[0])


def _branch(block: ast.AST, node: ast.AST) -> object:
    """The list of statements of a compound one that it stands in."""
    lists = (getattr(block, part, None) for part in ("body", "orelse", "finalbody"))
    return next((each for each in lists if isinstance(each, list) and node in each), None)


def _product(parents: dict[int, ast.AST], node: ast.expr) -> tuple[str, bool] | None:
    """`H` of `H @ g`, `g @ H`, `H.T @ g`: the name of `g`, and whether that is a product from the left."""
    turned, here, above = False, node, parents.get(id(node))
    if isinstance(above, ast.Attribute) and above.attr in ("T", "mT"):
        turned, here, above = True, above, parents.get(id(above))
    if not isinstance(above, ast.BinOp) or not isinstance(above.op, ast.MatMult):
        return None
    left = above.right is here
    vector = dotted(above.left if left else above.right)
    return (vector, left != turned) if vector else None


def _above(parents: dict[int, ast.AST], node: ast.AST) -> Iterator[ast.AST]:
    here = parents.get(id(node))
    while here is not None:
        yield here
        here = parents.get(id(here))
