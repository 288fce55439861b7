"""Which calls in a cell are known to keep nothing from one call to the next, by its text alone."""

from __future__ import annotations

import ast

from gpuprof.rules.cell.cell_bindings import CONTAINERS, LIBRARIES, CellBindings, dotted, members


def words(text: str) -> frozenset[str]:
    """Those of a text, parted by white space."""
    return frozenset(text.split())


_BUILTINS = words(
    """
    abs bool dict enumerate float int isinstance len list max min print range reversed round slice sorted str
    sum tuple zip
    """
)
_SEEDING = frozenset(("manual_seed", "seed", "set_rng_state"))
_METHODS = words(
    """
    abs add addmm all allclose amax amin aminmax any argmax argmin argsort argwhere atan2 baddbmm bincount bmm bool
    bucketize ceil chunk clamp clamp_max clamp_min clip clone contiguous corrcoef cos cosh count_nonzero cov cpu cross
    cuda cummax cummin cumprod cumsum det detach diag diag_embed diagonal diff dim dist div dot double eq equal erf erfc
    erfinv exp expand expand_as expm1 flatten flip fliplr flipud float floor fmax fmin fmod frac gather ge gt half histc
    hypot index_select int inverse isclose isfinite isinf isnan item kthvalue le lerp lgamma log log10 log1p log2
    log_softmax logaddexp logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsumexp long lt
    masked_fill masked_select matmul matrix_exp matrix_power max maximum mean median min minimum mm mode moveaxis
    movedim mul mv nan_to_num nanmean nanmedian nanquantile nansum narrow ne neg new_empty new_full new_ones new_tensor
    new_zeros nonzero norm numel outer permute pow prod quantile ravel reciprocal relu remainder repeat
    repeat_interleave reshape roll rot90 round rsqrt scatter scatter_add select sigmoid sign sin sinh size slogdet
    softmax sort split sqrt square squeeze std sub sum svd swapaxes swapdims t take take_along_dim tan tanh tensor_split
    tile to tolist topk trace transpose tril triu trunc type type_as unbind unflatten unfold unique unsqueeze var vdot
    view view_as where xlogy
    """
)
# of NumPy's arrays, pandas' tables and Python's own containers
DATA_METHODS = _METHODS | words(
    """
    agg apply astype copy corr count cov cummax cummin describe diff dropna drop_duplicates eq fillna format get groupby
    head idxmax idxmin index isin isna items join keys loc lower map merge nlargest nonzero nsmallest numpy nunique
    pct_change pivot pivot_table quantile rank ravel replace resample reset_index rolling round sample set_index
    sort_index sort_values split std strip sum tail to_dict to_list to_numpy tolist transpose unstack upper value_counts
    values
    """
)
_MOVING = frozenset(("to", "cuda", "cpu", "eval", "train", "float", "double", "half"))


class PureCalls:
    """Those of one cell: torch's functions, a tensor's own methods that change nothing, and what the cell makes of
    them. A module whose class is not in the cell may keep a state of its own, so that its calls are not known, but for
    `models`: names of those of which that is known otherwise."""

    def __init__(self, tree: ast.AST, models: frozenset[str] = frozenset()):
        self.names = CellBindings(tree)
        self._models = models
        self._open: set[str] = set()

    def knows(self, call: ast.Call) -> bool:
        """Whether this call is one of them; what it is given is not looked at, but for the function given to `map`."""
        text = self.names.key(call.func)
        if self.names.is_bound(text):
            made = self.names.made_of(text)
            if not made and text in self._models:
                return True
            return bool(made) and all(map(self._is_stateless, made))
        if (own := self._own(call.func)) in self.names.functions:
            return self.function(own) is not None
        if is_map(call):
            return self.knows_given(call.args[0])
        if isinstance(call.func, ast.Name):
            return text in self.names.imported or text in _BUILTINS or text in self._models
        if not isinstance(call.func, ast.Attribute):
            return False
        name, root = call.func.attr, text.partition(".")[0]
        if name.endswith("_") or name in _SEEDING:
            return False
        return (root in LIBRARIES and not self.names.is_bound(root)) or name in _METHODS

    def knows_given(self, function: ast.expr) -> bool:
        """Whether calls of what `map` is given are known."""
        if not isinstance(function, ast.Lambda):
            return self.knows(ast.Call(function, [], []))
        inside = list(ast.walk(function.body))
        return not any(isinstance(each, ast.NamedExpr | ast.Lambda | ast.Await | ast.Yield) for each in inside) and all(
            self.knows(each) for each in inside if isinstance(each, ast.Call)
        )

    def function(self, name: str) -> ast.FunctionDef | None:
        """The function of that name that this cell defines, where it keeps and changes nothing outside itself."""
        found = self.names.functions.get(name)
        if found is None or name in self._open:
            return None
        self._open.add(name)
        try:
            inside = [node for each in found.body for node in ast.walk(each)]
            adding = _appended(inside)
            plain = (node in adding or self._is_plain(node) for node in inside)
            return found if _adds_to_numbers(inside) and all(plain) else None
        finally:
            self._open.discard(name)

    def reads_in(self, node: ast.AST) -> set[str]:
        """The names from outside that the cell's functions and modules that are mentioned in a text mention."""
        inside = [each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)]
        return {read for each in inside for name in self._run_by(each) for read in self._reads(name)}

    def _reads(self, name: str) -> set[str]:
        found = self.function(name)
        if found is None:
            return set()
        self._open.add(name)
        names = [node for node in ast.walk(found) if isinstance(node, ast.Name)]
        given = {each.arg for each in ast.walk(found.args) if isinstance(each, ast.arg)}
        outer = {each.id for each in names} - given - {each.id for each in names if isinstance(each.ctx, ast.Store)}
        outer |= self.reads_in(found)
        self._open.discard(name)
        return outer

    def runs(self, call: ast.Call) -> list[ast.FunctionDef]:
        """The cell's own functions that this call runs, `forward` of its modules included."""
        run = self._run_by(call.args[0] if is_map(call) else call.func)
        return [found for name in run if (found := self.names.functions.get(name)) is not None]

    def makers(self, call: ast.Call) -> list[ast.Call]:
        """The calls that made the modules that this call runs."""
        values = self.names.made_of(self.names.key(call.args[0] if is_map(call) else call.func))
        return [each for value in values for each in ast.walk(value) if isinstance(each, ast.Call)]

    def is_many(self, call: ast.Call) -> bool:
        """Whether this call runs modules that a loop made: a list of them, or some after one another."""
        values = self.names.made_of(self.names.key(call.func))
        return any(isinstance(each, ast.ListComp | ast.GeneratorExp) for value in values for each in ast.walk(value))

    def _run_by(self, function: ast.expr) -> list[str]:
        own = self._own(function)
        if own in self.names.functions:
            return [own]
        return [f"{name}.forward" for each in self.makers(ast.Call(function, [], [])) if (name := dotted(each.func))]

    def _own(self, function: ast.expr) -> str:
        """The name by which the cell's functions are known, of `model.encode` that of the class of `model`."""
        text = self.names.key(function)
        if text in self.names.functions or not isinstance(function, ast.Attribute):
            return text
        made = [_unmoved(each) for each in self.names.made_of(self.names.key(function.value))]
        kinds = {dotted(each.func) if isinstance(each, ast.Call) else "" for each in made} & self.names.classes
        return f"{kinds.pop()}.{function.attr}" if len(kinds) == len(made) == 1 else text

    def _is_plain(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return self.knows(node)
        stored = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del)
        return not stored and not isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await)

    def _is_stateless(self, value: ast.expr | None) -> bool:
        """`nn.Sequential(nn.Linear(3, 4), nn.Tanh()).to(device)`: of torch's modules only norms of batches remember."""
        value = _unmoved(value)
        if not isinstance(value, ast.Call):
            return False
        root, _, rest = dotted(value.func).partition(".")
        name = rest.rpartition(".")[2] or root
        if root in self.names.classes:
            return not rest and self.function(f"{root}.forward") is not None
        if not (root in ("torch", "nn") or root in self.names.imported) or not name[:1].isupper():
            return False
        if name in CONTAINERS:
            return all(map(self._is_stateless, members(value)))
        given = [each for each in value.args if isinstance(each, ast.Starred | ast.Call)]
        return "BatchNorm" not in name and all(map(self._is_stateless, given))


def _unmoved(value: ast.expr | None) -> ast.expr | None:
    """`net` of `net.to(device)`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVING:
        value = value.func.value
    return value


def is_map(node: ast.AST) -> bool:
    """Whether it is `map(f, …)`."""
    return isinstance(node, ast.Call) and dotted(node.func) == "map" and len(node.args) > 1


def _appended(inside: list[ast.AST]) -> set[ast.AST]:
    """The calls of `append` on lists that are made there."""
    made: dict[str, bool] = {}
    for each in inside:
        if isinstance(each, ast.Assign):
            for target in each.targets:
                made[dotted(target)] = made.get(dotted(target), True) and _is_empty(each.value)
    calls = [each for each in inside if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]
    return {each for each in calls if dotted(each.func) in {f"{name}.append" for name, own in made.items() if own}}


def _is_empty(value: ast.expr) -> bool:
    return isinstance(value, ast.List) and not value.elts


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
