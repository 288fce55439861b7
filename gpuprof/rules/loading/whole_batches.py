"""Datasets that can be asked for a whole batch as they are: their samples are rows of tensors or arrays they hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.context import Loader
from gpuprof.rules.cell.cell_bindings import dotted

# its `__getitem__` takes lists of indices
_TORCHS_OWN = "TensorDataset"
_HELD = ("torch.Tensor", "numpy.ndarray")
# of rows that were taken together they give what they give of each row
_OF_ALL_ROWS = ("torch.from_numpy", "torch.as_tensor", "torch.tensor")
_METHODS = ("astype", "bool", "clone", "copy", "double", "float", "int", "long", "to")


def takes_index_lists(results: Results, loader: Loader) -> bool:
    """Whether `dataset[[3, 1, 2]]` gives what torch puts together of the samples 3, 1 and 2: of a `TensorDataset`, and
    where `__getitem__` takes rows of tensors and arrays, by its text and by what the names in it stood for."""
    if loader.iterable or loader.collated_by in ("own", "nobody"):
        return False
    name = loader.inner_dataset or loader.dataset
    if name == _TORCHS_OWN:
        return True
    # of an older recording that is not known
    if name is None or loader.collated_by is None:
        return False
    found = list(_getters(results, name))
    return len(found) == 1 and _takes_rows(results, *found[0])


def _getters(results: Results, name: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The `__getitem__` of each class of that name, with its file, in the texts that were sampled."""
    stacks = results.context.stacks
    for file in stacks.files if stacks else ():
        tree = parsed(results.context.described(file).source or "")
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.ClassDef) and node.name == name:
                methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
                # with that one torch asks it for whole batches already
                if "__getitem__" in methods and "__getitems__" not in methods:
                    yield file.filename, methods["__getitem__"]


def _takes_rows(results: Results, file: str, getter: ast.FunctionDef) -> bool:
    """Whether all that it does is to take rows, give them names, and return them."""
    if len(getter.args.args) != 2 or getter.decorator_list:
        return False
    seen = operands_at(results.context.operands, file, getter.body[-1].lineno)
    held = {each.name for each in seen if each.kind in _HELD}
    index, rows = getter.args.args[1].arg, set[str]()
    body = getter.body[1:] if ast.get_docstring(getter) is not None else getter.body
    for statement in body[:-1]:
        if not isinstance(statement, ast.Assign) or not _is_rows(statement.value, index, held, rows):
            return False
        if not all(isinstance(each, ast.Name) and each.id != index for each in statement.targets):
            return False
        rows |= {dotted(each) for each in statement.targets}
    last = body[-1]
    return isinstance(last, ast.Return) and last.value is not None and _is_rows(last.value, index, held, rows)


def _is_rows(node: ast.expr, index: str, held: set[str], rows: set[str]) -> bool:
    """Whether the expression gives, with a list in place of the index, the rows that it gives with each of them."""
    match node:
        case ast.Name():
            return node.id in rows
        case ast.Tuple() | ast.List():
            return bool(node.elts) and all(_is_rows(each, index, held, rows) for each in node.elts)
        case ast.Dict():
            plain = all(isinstance(each, ast.Constant) for each in node.keys)
            return plain and bool(node.values) and all(_is_rows(each, index, held, rows) for each in node.values)
        case ast.Subscript(slice=ast.Name(id=taken)):
            return taken == index and dotted(node.value) in held
        case ast.Call(func=ast.Attribute(value=value, attr=name)):
            if dotted(node.func) in _OF_ALL_ROWS:
                alone = len(node.args) == 1 and not _names_index(node, index)
                return alone and _is_rows(node.args[0], index, held, rows)
            return name in _METHODS and not _names_index(node, index) and _is_rows(value, index, held, rows)
    return False


def _names_index(node: ast.Call, index: str) -> bool:
    """Whether its other arguments differ from sample to sample."""
    others = [*node.args[1:], *(each.value for each in node.keywords)]
    others += node.args[:1] if dotted(node.func) not in _OF_ALL_ROWS else []
    given = (part for each in others for part in ast.walk(each))
    return any(isinstance(each, ast.Name) and each.id == index for each in given)
