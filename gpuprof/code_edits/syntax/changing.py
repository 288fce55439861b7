"""Which variables of a cell some statements may bind anew or change in place, with all that may share their memory."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from gpuprof.code_edits.syntax.cell_modules import root_of
from gpuprof.code_edits.syntax.cell_text import CellText, Comprehension, Variable
from gpuprof.code_edits.syntax.pure_names import words
from gpuprof.code_edits.syntax.shared_memory import PUTS, SharedMemory
from gpuprof.code_edits.syntax.steady import Steady

_DEEPEST = 6
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
        self.memory = SharedMemory(text, steady)

    def by(self, node: ast.AST) -> Changed:
        """What this statement, with all in it, changes."""
        if node not in self._by:
            self._by[node] = Changed()
            self._note(node, self._by[node], 0)
        return self._by[node]

    def any_of(self, variables: set[Variable], changed: Changed) -> bool:
        """Whether one of these may have another value, or other contents, after that."""
        return bool(variables & (changed.bound | changed.grown)) or self.memory.shares(variables, changed.inside)

    def inside(self, variables: set[Variable], changed: Changed) -> bool:
        """Whether the memory of one of these may be written to."""
        return self.memory.shares(variables, changed.inside)

    def _note(self, node: ast.AST, found: Changed, depth: int) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.Yield | ast.YieldFrom | ast.Try):
            found.unclear = found.unclear or not isinstance(node, ast.Lambda | ast.Try)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.bound.add(self._text.variable(node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = (each.asname or each.name.partition(".")[0] for each in node.names)
            found.bound |= {Variable(name, self._text.scope(node)) for name in names}
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.inside.add(self._text.variable(node.target))
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            self._change(found, node)
        elif isinstance(node, ast.Call):
            self._call(node, found, depth)
        for each in ast.iter_child_nodes(node):
            self._note(each, found, depth)

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

    def _call(self, call: ast.Call, found: Changed, depth: int) -> None:
        given = [*call.args, *(each.value for each in call.keywords)]
        writes = any(each.arg in ("out", "inplace") for each in call.keywords)
        text, function = self._text, call.func
        alone = isinstance(text.parent(call), ast.Expr)
        if writes:
            self._change(found, *given)
        if self._steady.knows(call) and not (alone and isinstance(function, ast.Attribute)):
            return
        own = self._steady.modules.function(call)
        if own is not None:
            self._function(own, call, given, found, depth)
            return
        full = text.full_name(function)
        if full is not None:
            if not _ONLY_READS.fullmatch(full):
                self._change(found, *given)
            return
        if isinstance(function, ast.Name):
            self._named(function, given, found)
        elif isinstance(function, ast.Attribute):
            self._method(call, function, given, found, depth)
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
        found.inside.add(variable)
        self._change(found, *given)
        if not known:
            # it can reach what earlier cells made, by name
            found.inside |= {
                each for each in map(self._text.variable, self._text.names()) if not self._text.is_bound(each)
            }

    def _method(
        self, call: ast.Call, function: ast.Attribute, given: list[ast.expr], found: Changed, depth: int
    ) -> None:
        name = function.attr
        if name == "step" and (name not in self._steady.modules.methods or self._optimizer(function.value)):
            self._step(function, given, found)
        elif name in self._steady.modules.methods:
            self._methods(name, call, given, found, depth)
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

    def _methods(self, name: str, call: ast.Call, given: list[ast.expr], found: Changed, depth: int) -> None:
        for each in self._text.nodes:
            if isinstance(each, ast.FunctionDef) and each.name == name:
                self._function(each, call, [call.func, *given], found, depth)

    def _function(
        self, function: ast.FunctionDef, call: ast.Call, given: list[ast.expr], found: Changed, depth: int
    ) -> None:
        """What the body of a function changes that is not its own."""
        if depth == _DEEPEST:
            found.unclear = True
            return
        inner = Changed()
        for each in function.body:
            self._note(each, inner, depth + 1)
        own = {each for each in inner.inside | inner.grown if each.scope is function}
        parameters = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        if any(each.name in parameters or self.memory.shares({each}, _all(function, parameters)) for each in own):
            self._change(found, *given)
        found.bound |= {each for each in inner.bound if each.scope is not function and not _inside(function, each)}
        found.inside |= {each for each in inner.inside if each.scope is not function}
        found.grown |= {each for each in inner.grown if each.scope is not function}
        found.trains, found.unclear = found.trains or inner.trains, found.unclear or inner.unclear


def _all(function: ast.FunctionDef, parameters: set[str]) -> set[Variable]:
    return {Variable(name, function) for name in parameters}


def _inside(function: ast.FunctionDef, variable: Variable) -> bool:
    return isinstance(variable.scope, Comprehension) or any(each is variable.scope for each in ast.walk(function))
