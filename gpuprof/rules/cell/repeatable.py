"""Which expressions of a text give the same each time they are computed from the same: a strict reading."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.effects import has_effects
from gpuprof.rules.cell.pure_calls import words

# chance, clocks, files, and what a model or an iterator keeps
_VARIES = re.compile(
    r"rand|shuffl|sampl|choice|permut|seed|noise|draw|augment|bootstrap|dropout|jitter|perturb|normal$|uniform|poisson|"
    r"binomial|gauss|bernoulli|multinomial|exponential$|forest|(?<!kd)(?<!kd_)(?<!ball)tree|boost|mlp|kmeans|tsne|sgd|bagging|isolation|mixture|"
    r"nmf|truncatedsvd|umap|train_test_split|iterative|perf_counter|^time|clock|^now$|today|uuid|input|download|"
    r"request|^next$|^iter$|generator|rng|simulat|rollout|explore|sleep|measure|bench|synchronize|eval$|exec|globals|"
    r"locals|getattr|setattr|vars",
    re.IGNORECASE,
)
_FILES = re.compile(r"open|read|load", re.IGNORECASE)
_WRITING = ("w", "wb", "a", "ab", "r+", "rb+", "w+", "x")
_FILE_LIBRARIES = words("base64 bz2 gzip h5py imageio io lzma pathlib pickle PIL soundfile tifffile zipfile zlib")
_WRITES = re.compile(r"save|write|dump$|^to_(csv|parquet|pickle|hdf|json|feather)$", re.IGNORECASE)
_SEEDS = ("random_state", "seed")
_LIBRARIES = words(
    """
    bisect collections copy cv2 functools heapq itertools json librosa math networkx numpy operator pandas re scipy
    skimage sklearn string torch torchvision
    """
)
_BUILTINS = words(
    """
    abs all any bool bytes complex dict divmod enumerate filter float format frozenset hash int isinstance len list map
    max min ord chr pow range repr reversed round set slice sorted str sum tuple zip
    """
)
# of torch only what makes and computes tensors: modules and optimizers keep a state
_STATEFUL = re.compile(r"(^|\.)(nn|optim|utils|jit|distributed)\.(?!functional\.)|(^|\.)(nn|optim)\.[A-Z]")
_UNCLEAR = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)
_COLLECTIONS = words("list tuple sorted dict set frozenset range array arange linspace unique asarray zeros ones")
_COPIES = frozenset({"copy", "deepcopy", "clone", "zeros", "ones", "empty", "full"})
_DATA = ("numpy", "pandas", "scipy", "sklearn", "math")
_GENERATORS = ("default_rng", "RandomState", "Generator")
# calls for the sake of their effect that leave what they are given as it is
HARMLESS = words("print display append extend add fit partial_fit write log info debug update manual_seed seed")
_DEEPEST = 4


class Repeatable:
    """Of one text. A name has a meaning where the text gives it one value, or imports it, once."""

    def __init__(self, tree: ast.Module):
        nodes = list(ast.walk(tree))
        defined = [each for each in nodes if isinstance(each, ast.FunctionDef)]
        names = [each.name for each in defined]
        self._methods = {
            inner.name
            for each in nodes
            if isinstance(each, ast.ClassDef)
            for inner in each.body
            if isinstance(inner, ast.FunctionDef)
        }
        self._functions = {each.name: each for each in defined if names.count(each.name) == 1}
        self._classes = {each.name for each in nodes if isinstance(each, ast.ClassDef)}
        self._modules = dict[str, str]()
        self._values = dict[str, ast.expr | None]()
        self._sources = dict[str, set[str]]()
        for node in nodes:
            self._bind(node)

    def is_unchanged(self, node: ast.expr, changing: set[str]) -> bool:
        """Whether it reads none of these names, and gives the same each time."""
        return not (self.reads(node) & changing) and self.is_steady(node)

    def is_plain_call(self, call: ast.Call) -> bool:
        """Whether it only makes a container, a number or a copy: nobody keeps such a thing."""
        return dotted(call.func).rpartition(".")[2] in _BUILTINS | _COPIES

    def is_collection(self, name: str) -> bool:
        """Whether the text makes of it something that gives the same each time one goes over it."""
        value = self._values.get(name)
        if isinstance(value, ast.List | ast.Tuple | ast.Dict | ast.ListComp | ast.DictComp):
            return True
        return isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _COLLECTIONS

    def not_data(self, node: ast.expr) -> set[str]:
        """The names that it reads, those of the functions it calls included, that may be anything: not a function, not
        imported, not made by NumPy, pandas, SciPy, scikit-learn or of constants."""
        return {name for name in self.reads(node) if not self._is_data(name, 0)}

    def sources(self, name: str) -> set[str]:
        """The names that anything it is made of reads, of which it may be a view or a part."""
        return self._sources.get(name, set()) - self._functions.keys() - self._modules.keys()

    def is_own(self, name: str) -> bool:
        """Whether it is a function of the text."""
        return name in self._functions

    def given_to_effects(self, call: ast.Call) -> set[str]:
        """The names that this call may change: what a function with effects is given and reads, what an object that
        changes is."""
        own = self._functions.get(dotted(call.func))
        if own is not None and self._changes_given(own):
            return self.reads(call)
        if not has_effects(call, self._functions) and dotted(call.func) not in self._classes:
            return set()
        parts = [*call.args, *(each.value for each in call.keywords)]
        parts += [call.func.value] if isinstance(call.func, ast.Attribute) else []
        given = {name for each in parts if (name := dotted(each).partition(".")[0])}
        return given | (self.reads(call) if own is not None else set())

    def _changes_given(self, function: ast.FunctionDef, depth: int = 0) -> bool:
        """Whether it changes in place what it is given, or what it reads from outside: `w -= step`, `shuffle(rows)`."""
        inside = [node for each in function.body for node in ast.walk(each)]
        made = {name for each in inside if isinstance(each, ast.Assign | ast.For | ast.With) for name in _stored(each)}
        for node in inside:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id not in made:
                return True
            effect = node.value if isinstance(node, ast.Expr) else None
            if isinstance(effect, ast.Call) and changed_by(effect) - made - self._modules.keys():
                return True
            if isinstance(node, ast.Call):
                called = self._functions.get(dotted(node.func), function)
                deeper = called is not function and (depth == _DEEPEST or self._changes_given(called, depth + 1))
                if deeper or any(each.arg == "out" for each in node.keywords):
                    return True
        return False

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for each in node.names:
                self._modules[each.asname or each.name.partition(".")[0]] = each.name
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                self._modules[each.asname or each.name] = f"{node.module or ''}.{each.name}"
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._give(node.targets[0].id, node.value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name in _stored(target):
                    self._give(name, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            for name in _stored(node.target):
                self._give(name, node.iter)
        elif isinstance(node, ast.arg):
            self._give(node.arg, None)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.With):
            for name in _stored(node):
                self._give(name, None)

    def _give(self, name: str, value: ast.expr | None) -> None:
        self._values[name] = None if name in self._values else value
        read = (each.id for each in ast.walk(value) if isinstance(each, ast.Name)) if value is not None else ()
        self._sources.setdefault(name, set()).update(read)

    def reads(self, node: ast.AST, depth: int = 0) -> set[str]:
        """The names that it reads from outside, through the text's functions; attributes go by their object."""
        inside = list(ast.walk(node))
        own = {name for each in inside if isinstance(each, ast.comprehension) for name in _stored(each.target)}
        found = {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)} - own
        for name in sorted(found & self._functions.keys()) if depth < _DEEPEST else ():
            function = self._functions[name]
            given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
            found |= self._reads_of_body(function, depth) - given
        return found

    def _reads_of_body(self, function: ast.FunctionDef, depth: int) -> set[str]:
        stored = {name for each in function.body for name in _stored(each)}
        return {name for each in function.body for name in self.reads(each, depth + 1)} - stored

    def is_steady(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether nothing that it runs is random, keeps a state, or is unknown."""
        inside = list(ast.walk(node))
        return not any(isinstance(each, _UNCLEAR) for each in inside) and all(
            self._is_steady_call(each, inside, depth) for each in inside if isinstance(each, ast.Call)
        )

    def _is_steady_call(self, call: ast.Call, around: list[ast.AST], depth: int) -> bool:
        name = dotted(call.func)
        last = call.func.attr if isinstance(call.func, ast.Attribute) else name
        seeded = _is_seeded(call)
        if has_effects(call, self._functions) or (self._varies(last) and not seeded):
            return False
        root = name.partition(".")[0]
        if root in self._modules and root not in self._values:
            full = self._modules[root] + name[len(root) :]
            unsteady = (self._varies(full) and not seeded) or _STATEFUL.search(full)
            return full.partition(".")[0] in _LIBRARIES and not unsteady
        if isinstance(call.func, ast.Name):
            if name in self._functions and name not in self._values:
                return depth < _DEEPEST and all(self.is_steady(each, depth + 1) for each in self._functions[name].body)
            return name in _BUILTINS and name not in self._values
        # a method of an object of the text's own classes may do anything
        return isinstance(call.func, ast.Attribute) and last not in self._methods and not self._is_generator(root)

    def _varies(self, name: str) -> bool:
        """Whether the name sounds like something that gives another result each time: files may have changed."""
        return bool(_VARIES.search(name) or _FILES.search(name))

    def _is_data(self, name: str, depth: int) -> bool:
        if name in self._values:
            value = self._values[name]
            return value is not None and depth < 2 * _DEEPEST and self._makes_data(value, depth + 1)
        return name in self._modules or name in self._functions or name in _BUILTINS

    def _makes_data(self, value: ast.expr, depth: int) -> bool:
        """Whether it is of numbers, texts and arrays: a model or a generator of random numbers keeps a state."""
        for node in ast.walk(value):
            if isinstance(node, _UNCLEAR):
                return False
            if isinstance(node, ast.Call) and not self._gives_data(node):
                return False
        read = {each.id for each in ast.walk(value) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        own = {name for each in ast.walk(value) if isinstance(each, ast.comprehension) for name in _stored(each.target)}
        return all(self._is_data(each, depth) or self._is_generator(each) for each in read - own)

    def _gives_data(self, call: ast.Call) -> bool:
        name = dotted(call.func)
        root = name.partition(".")[0]
        if root in self._modules:
            return self._modules[root].partition(".")[0] in _DATA and not name.endswith(_GENERATORS)
        # a method of what is data itself
        return name in _BUILTINS or isinstance(call.func, ast.Attribute)

    def _is_generator(self, name: str) -> bool:
        """What it draws are arrays."""
        value = self._values.get(name)
        return isinstance(value, ast.Call) and dotted(value.func).endswith(_GENERATORS)


class RepeatableReads(Repeatable):
    """Files give the same each time, too. Objects of the text, and what they hold, are only called where their methods
    are steady: a transform that is kept may be random."""

    def __init__(self, tree: ast.Module):
        super().__init__(tree)
        functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        self._bodies = {each.name: each for each in functions}
        self._loops = [each for each in ast.walk(tree) if isinstance(each, ast.For | ast.While)]
        self._opened = set[str]()
        for each in ast.walk(tree):
            value = each.context_expr if isinstance(each, ast.withitem) else getattr(each, "value", None)
            if isinstance(each, ast.withitem | ast.Assign) and isinstance(value, ast.Call) and _is_of_files(value):
                self._opened |= _stored(each)

    def written_beside(self, lines: Collection[int]) -> bool:
        """Whether a loop around any of these lines of the text writes files, itself or by functions of the text."""
        around = [each for each in self._loops if any(each.lineno <= line <= (each.end_lineno or 0) for line in lines)]
        calls = [call for each in around for call in _calls(each)]
        inside = [self._bodies[name] for each in calls if (name := _last(each)) in self._bodies]
        return any(
            _WRITES.search(_last(each)) for each in (*calls, *(call for each in inside for call in _calls(each)))
        )

    def reads_files(self, node: ast.AST) -> bool:
        """Whether it, or what it calls of the text, opens or reads one."""
        calls = list(_calls(node))
        bodies = [self._bodies[name] for each in calls if (name := _last(each)) in self._bodies]
        return any(_is_of_files(each) for each in (*calls, *(call for each in bodies for call in _calls(each))))

    def _is_steady_call(self, call: ast.Call, around: list[ast.AST], depth: int) -> bool:
        name, last = dotted(call.func), _last(call)
        if isinstance(call.func, ast.Name) and name in self._functions:
            return not self._functions[name].decorator_list and super()._is_steady_call(call, around, depth)
        if isinstance(call.func, ast.Attribute) and root(call.func) == "self":
            return self._is_steady_method(call, depth)
        return self._reads_whole(call) if _FILES.search(last) else super()._is_steady_call(call, around, depth)

    def _varies(self, name: str) -> bool:
        return bool(_VARIES.search(name))

    def _is_steady_method(self, call: ast.Call, depth: int) -> bool:
        method = self._bodies.get(_last(call)) if _last(call) in self._methods else None
        if method is None or method.decorator_list or depth >= _DEEPEST or dotted(call.func).count(".") != 1:
            return False
        steady = all(self.is_steady(each, depth + 1) for each in method.body)
        return steady and not has_effects(method, self._functions)

    def _reads_whole(self, call: ast.Call) -> bool:
        """`np.load(path)`, `open(path)`, `file.read()` of a file that the text opens each time: what stays open goes on
        from where it was."""
        given = (*call.args, *(each.value for each in call.keywords))
        if any(isinstance(each, ast.Constant) and each.value in _WRITING for each in given):
            return False
        start = dotted(call.func).partition(".")[0]
        library = self._modules.get(start, "").partition(".")[0]
        return library in _LIBRARIES | _FILE_LIBRARIES or start in self._opened or dotted(call.func) == "open"


def _is_of_files(call: ast.Call) -> bool:
    return bool(_FILES.search(_last(call)))


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def changed_by(call: ast.Call) -> set[str]:
    """The names that a call for the sake of its effect changes: what it is a method of, and what it is given."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    parts = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    if name not in HARMLESS:
        parts += [*call.args, *(each.value for each in call.keywords)]
    return {root(each) for each in parts} - {""}


def root(node: ast.AST) -> str:
    """`K` of `K.diagonal().add_(1)`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_seeded(call: ast.Call) -> bool:
    return any(
        each.arg in _SEEDS and isinstance(each.value, ast.Constant) and each.value.value is not None
        for each in call.keywords
    )


def _stored(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
