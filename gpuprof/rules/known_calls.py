"""Which calls in a cell are known to keep nothing from one call to the next, by its text alone."""

from __future__ import annotations

import ast


def words(text: str) -> frozenset[str]:
    """Those of a text, parted by white space."""
    return frozenset(text.split())


_LIBRARIES = frozenset(("torch", "nn", "F", "functional", "math", "np", "numpy", "einops"))
_BUILTINS = words(
    """
    abs bool dict enumerate float int isinstance len list max min print range reversed round slice sorted str
    sum tuple zip
    """
)
_SEEDING = frozenset(("manual_seed", "seed", "set_rng_state"))
_METHODS = words(
    """
    abs add all amax amin any argmax argmin argsort bmm bool ceil chunk clamp clip clone contiguous cos cosh cpu
    cuda cumprod cumsum detach diag diagonal diff dim dist div dot double eq erf exp expand expand_as expm1
    flatten flip float floor gather ge gt half index_select int inverse isfinite isinf isnan item le log log10
    log1p log2 log_softmax logical_and logical_not logical_or logsumexp long lt masked_fill masked_select matmul
    max maximum mean median min minimum mm mul mv narrow ne neg nonzero norm numel outer permute pow prod
    quantile reciprocal relu repeat reshape roll round rsqrt scatter select sigmoid sign sin sinh size softmax
    sort split sqrt square squeeze std sub sum swapaxes t take tan tanh to tolist topk transpose tril triu trunc
    type type_as unbind unflatten unfold unique unsqueeze var view view_as where
    """
)
_MOVING = frozenset(("to", "cuda", "cpu", "eval", "train", "float", "double", "half"))


class KnownCalls:
    """Those of one cell: torch's functions, a tensor's own methods that change nothing, and what the cell makes of
    them. A module of the user's may keep a state of its own, so that its calls are not known."""

    def __init__(self, tree: ast.AST):
        self._functions: dict[str, ast.FunctionDef | None] = {}
        self._values: dict[str, ast.expr | None] = {}
        self._imported: set[str] = set()
        self._open: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self._functions[node.name] = None if node.name in self._functions else node
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _LIBRARIES:
                self._imported |= {each.asname or each.name for each in node.names}
            elif isinstance(node, ast.arg):
                self._values[node.arg] = None
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                if text := dotted(node.targets[0]):
                    self._values[text] = None if text in self._values else node.value
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._values.setdefault(node.id, None)

    def knows(self, call: ast.Call) -> bool:
        """Whether this call is one of them; what it is given is not looked at."""
        text = dotted(call.func)
        if text in self._values:
            return self._is_stateless(self._values[text])
        if isinstance(call.func, ast.Name):
            if text in self._functions:
                return self.function(text) is not None
            return text in self._imported or text in _BUILTINS
        if not isinstance(call.func, ast.Attribute):
            return False
        name, root = call.func.attr, text.partition(".")[0]
        if name.endswith("_") or name in _SEEDING:
            return False
        return (root in _LIBRARIES and root not in self._values) or name in _METHODS

    def function(self, name: str) -> ast.FunctionDef | None:
        """The function of that name that this cell defines, where it keeps and changes nothing outside itself."""
        found = self._functions.get(name)
        if found is None or name in self._open:
            return None
        self._open.add(name)
        try:
            inside = [node for each in found.body for node in ast.walk(each)]
            return found if _adds_to_numbers(inside) and all(map(self._is_plain, inside)) else None
        finally:
            self._open.discard(name)

    def reads(self, name: str) -> set[str]:
        """The names from outside that the function of that name, and those that it calls, mention."""
        found = self.function(name)
        if found is None:
            return set()
        self._open.add(name)
        inside = [node for node in ast.walk(found) if isinstance(node, ast.Name)]
        given = {each.arg for each in ast.walk(found.args) if isinstance(each, ast.arg)}
        outer = {each.id for each in inside} - given - {each.id for each in inside if isinstance(each.ctx, ast.Store)}
        outer |= {deeper for each in outer for deeper in self.reads(each)}
        self._open.discard(name)
        return outer

    def made_of(self, text: str) -> ast.expr | None:
        """What the cell assigns to this name, where it does so once."""
        return self._values.get(text)

    def _is_plain(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return self.knows(node)
        stored = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del)
        return not stored and not isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await)

    def _is_stateless(self, value: ast.expr | None) -> bool:
        """`nn.Sequential(nn.Linear(3, 4), nn.Tanh()).to(device)`: of torch's modules only norms of batches remember."""
        if not isinstance(value, ast.Call):
            return False
        if isinstance(value.func, ast.Attribute) and value.func.attr in _MOVING:
            return self._is_stateless(value.func.value)
        root, _, rest = dotted(value.func).partition(".")
        name = rest.rpartition(".")[2] or root
        if not (root in ("torch", "nn") or root in self._imported) or not name[:1].isupper() or "BatchNorm" in name:
            return False
        return all(not isinstance(each, ast.Starred | ast.Call) or self._is_stateless(each) for each in value.args)


def _adds_to_numbers(inside: list[ast.AST]) -> bool:
    """Whether whatever is changed in place began as a number: a tensor would be the caller's, or seen by it."""
    changed = {dotted(each.target) for each in inside if isinstance(each, ast.AugAssign)}
    given = {each.id: False for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for each in inside:
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant):
            given |= {dotted(target): True for target in each.targets}
    for each in inside:
        if isinstance(each, ast.Assign) and not isinstance(each.value, ast.Constant | ast.BinOp):
            given |= {dotted(target): False for target in each.targets}
    return all(given.get(name, False) for name in changed)


def dotted(node: ast.AST) -> str:
    """`self.head` of such a node; empty where it is anything but names and attributes."""
    if isinstance(node, ast.Name):
        return node.id
    inner = dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{inner}.{node.attr}" if inner and isinstance(node, ast.Attribute) else ""
