"""Which variables of a cell some statements may bind anew or change in place, with all that may share their memory."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from gpuprof.code_edits.syntax.cell_modules import root_of
from gpuprof.code_edits.syntax.cell_text import CellText, Variable
from gpuprof.code_edits.syntax.pure_names import words
from gpuprof.code_edits.syntax.shared_memory import PUTS, SharedMemory
from gpuprof.code_edits.syntax.steady import Steady

# they read what they are given, print it, wait, or draw random numbers
_ONLY_READS = re.compile(
    r"(time|math|logging|warnings|matplotlib|tqdm|sys|os|json|pathlib|collections|itertools|functools|contextlib|copy)\b.*|"
    r"torch\.(rand|randn|randint|randperm|rand_like|randn_like|randint_like|normal|bernoulli|multinomial|poisson|"
    r"manual_seed|no_grad|inference_mode|enable_grad|set_grad_enabled|autocast|set_num_threads|empty|empty_like|save|"
    r"Generator|device|cuda\.\w+|optim\..*|distributions\..*|utils\.data\..*|amp\..*|autograd\.grad|nn\.[A-Z]\w*|"
    r"nn\.functional\.(dropout|dropout1d|dropout2d|dropout3d|gumbel_softmax|multi_head_attention_forward|"
    r"scaled_dot_product_attention|embedding|batch_norm|instance_norm))|"
    r"(numpy\.random|random)\.(?!shuffle)\w+"
)
_BUILTINS = words(
    """
    abs all any bool dict display enumerate float format getattr hasattr hash id int isinstance issubclass len list map
    max min print range repr reversed round set slice sorted str sum super tuple type zip
    """
)
_UNKNOWN = frozenset({"eval", "exec", "globals", "locals", "vars", "compile", "__import__"})
# methods that leave their object as it is, as far as its value goes: gradients and modes are not its value
_HARMLESS = words(
    """
    backward buffers capitalize children close count detach elapsed_time encode endswith eval format index item
    join log_prob lower modules named_parameters numpy parameters record replace requires_grad_ rsample sample
    set_description set_postfix startswith state_dict strip synchronize tolist train upper write_text zero_grad
    """
)


@dataclass
class Changed:
    """`bound`: given another value; `grown`: containers that something is put into; `inside`: changed in place.
    `trains`: weights are updated, and the text does not say whose. `unclear`: nor what else something changes."""

    bound: set[Variable] = field(default_factory=set)
    grown: set[Variable] = field(default_factory=set)
    inside: set[Variable] = field(default_factory=set)
    trains: bool = False
    unclear: bool = False


class Changing:
    """Of one cell."""

    def __init__(self, text: CellText, steady: Steady):
        self._text, self._steady = text, steady
        self._by: dict[ast.AST, Changed] = {}
        self._effects: dict[ast.FunctionDef, Changed] = {}
        methods = (each for each in text.nodes if isinstance(each, ast.FunctionDef))
        # that Python calls by itself: `__getitem__` where a loop goes over a dataset
        self._unseen = [each for each in methods if each.name.startswith("__") and each.name != "__init__"]
        self.memory = SharedMemory(text, steady)

    def by(self, node: ast.AST) -> Changed:
        """What this statement, with all in it, changes."""
        if node not in self._by:
            self._by[node] = Changed()
            self._note(node, self._by[node])
            for each in self._unseen:
                self._function(each, [], self._by[node])
        return self._by[node]

    def any_of(self, variables: set[Variable], changed: Changed) -> bool:
        """Whether one of these may have another value, or other contents, after that."""
        return bool(variables & (changed.bound | changed.grown)) or self.memory.shares(variables, changed.inside)

    def inside(self, variables: set[Variable], changed: Changed) -> bool:
        """Whether the memory of one of these may be written to."""
        return self.memory.shares(variables, changed.inside)

    def _note(self, node: ast.AST, found: Changed) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.Yield | ast.YieldFrom | ast.Await):
            found.unclear = found.unclear or not isinstance(node, ast.Lambda)
        elif isinstance(node, ast.Name):
            self._name(node, found)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = (each.asname or each.name.partition(".")[0] for each in node.names)
            found.bound |= {Variable(name, self._text.scope(node)) for name in names}
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.inside.add(self._text.variable(node.target))
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            self._change(found, node)
        elif isinstance(node, ast.Call):
            self._call(node, found)
        for each in ast.iter_child_nodes(node):
            self._note(each, found)

    def _name(self, node: ast.Name, found: Changed) -> None:
        outer = self._text.parent(node)
        if not isinstance(node.ctx, ast.Load):
            found.bound.add(self._text.variable(node))
        elif (own := self._own(node)) is not None and not (isinstance(outer, ast.Call) and outer.func is node):
            # whoever is given it may call it
            self._function(own, None, found)

    def _change(self, found: Changed, *nodes: ast.AST) -> None:
        for node in nodes:
            if isinstance(node, ast.Constant | ast.BinOp | ast.Compare | ast.JoinedStr | ast.UnaryOp):
                continue
            root = root_of(node)
            if root is not None:
                found.inside.add(self._text.variable(root))
            else:
                found.inside |= self._steady.reads(node)
                found.unclear = found.unclear or isinstance(node, ast.Lambda)

    def _call(self, call: ast.Call, found: Changed) -> None:
        given = [*call.args, *(each.value for each in call.keywords)]
        writes = any(each.arg in ("out", "inplace") for each in call.keywords)
        text, function = self._text, call.func
        alone = isinstance(text.parent(call), ast.Expr)
        if writes:
            self._change(found, *given)
        if self._steady.knows(call) and not (alone and isinstance(function, ast.Attribute)):
            return
        own = self._own(function) or self._steady.modules.function(call)
        if own is not None:
            self._function(own, [function, *given], found)
            return
        full = text.full_name(function)
        if full is not None:
            if not _ONLY_READS.fullmatch(full):
                self._change(found, *given)
            return
        if isinstance(function, ast.Name):
            self._named(function, given, found)
        elif isinstance(function, ast.Attribute):
            self._method(call, function, given, found)
        else:
            self._change(found, function, *given)

    def _named(self, function: ast.Name, given: list[ast.expr], found: Changed) -> None:
        """A builtin, a class of the cell, an object that can be called, or a function of another cell."""
        variable = self._text.variable(function)
        known = self._text.is_bound(variable)
        if not known and function.id in _BUILTINS:
            return
        if not known and function.id in _UNKNOWN:
            found.unclear = True
        if isinstance(definition := self._text.definition(variable), ast.ClassDef):
            self._constructed(definition, given, found)
            return
        found.inside.add(variable)
        self._change(found, *given)
        for each in self._methods_named("forward", "__call__") if known else ():
            self._function(each, given, found)
        if not known:
            # it can reach what earlier cells made, by name
            found.inside |= {
                each for each in map(self._text.variable, self._text.names()) if not self._text.is_bound(each)
            }

    def _constructed(self, home: ast.ClassDef, given: list[ast.expr], found: Changed) -> None:
        """Of a new object nobody knows yet."""
        inner = Changed()
        for each in self._methods_named("__init__", "__new__", "__post_init__"):
            if self._text.parent(each) is home or home.bases:
                self._function(each, given, inner)
        found.inside |= {each for each in inner.inside if each.name != "self"}
        found.bound |= inner.bound
        found.grown |= inner.grown
        found.trains, found.unclear = found.trains or inner.trains, found.unclear or inner.unclear

    def _method(self, call: ast.Call, function: ast.Attribute, given: list[ast.expr], found: Changed) -> None:
        name = function.attr
        if name == "step" and (name not in self._steady.modules.methods or self._optimizer(function.value)):
            self._step(function, given, found)
        elif name in self._steady.modules.methods:
            for each in self._methods_named(name):
                self._function(each, [function, *given], found)
        elif name in PUTS and not (name == "add" and not isinstance(self._text.parent(call), ast.Expr)):
            root = root_of(function)
            if root is not None:
                found.grown.add(self._text.variable(root))
        elif name not in _HARMLESS:
            self._change(found, function, *given)

    def _optimizer(self, node: ast.expr) -> ast.Call | None:
        """What made it, where that is one of torch's optimizers."""
        made = self._text.value_of(self._text.variable(node)) if isinstance(node, ast.Name) else None
        full = self._text.full_name(made.func) if isinstance(made, ast.Call) else None
        return made if isinstance(made, ast.Call) and (full or "").startswith("torch.optim.") else None

    def _step(self, function: ast.Attribute, given: list[ast.expr], found: Changed) -> None:
        """An optimizer changes what it was made with."""
        self._change(found, function, *given)
        made = self._optimizer(function.value)
        if made is not None:
            found.inside |= self._steady.reads(made)
        else:
            found.trains = True

    def _methods_named(self, *names: str) -> list[ast.FunctionDef]:
        return [each for each in self._text.nodes if isinstance(each, ast.FunctionDef) and each.name in names]

    def _function(self, function: ast.FunctionDef, given: list[ast.expr] | None, found: Changed) -> None:
        """What the body of a function changes, and what it is given, if it changes that; None: by somebody else."""
        if function not in self._effects:
            self._effects[function] = Changed(unclear=True)  # for one that calls itself
            inner = Changed()
            for each in function.body:
                self._note(each, inner)
            self._effects[function] = inner
        inner = self._effects[function]
        parameters = {Variable(each.arg, function) for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        if parameters & inner.grown or self.memory.shares(parameters, inner.inside):
            self._change(found, *given or ())
            found.unclear = found.unclear or given is None
        found.bound |= {each for each in inner.bound if not self._text.holds(function, each.scope)}
        found.inside |= inner.inside
        found.grown |= inner.grown
        found.trains, found.unclear = found.trains or inner.trains, found.unclear or inner.unclear

    def _own(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function of the cell of that name, wherever it is defined."""
        found = self._text.definition(self._text.variable(node)) if isinstance(node, ast.Name) else None
        return found if isinstance(found, ast.FunctionDef) else None
