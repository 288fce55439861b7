"""Whether a text says of everything that a statement calls what it does."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.pure_calls import DATA_METHODS, words

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LIBRARIES = words("collections itertools math networkx numpy pandas scipy skimage sklearn statistics torch")
# of the interpreter: what runs other code, or another's
_OTHER_CODE = frozenset({"eval", "exec", "next", "iter", "input", "open", "print", "setattr", "delattr", "compile"})
_OF_MODELS = words("eval train forward encode decode state_dict")
# they only list what a model has
_LISTS = words("buffers children modules named_buffers named_children named_modules named_parameters parameters")
_FILLING = words("append extend")
# Random numbers. Where fewer are drawn, or none are seeded, all later ones are others, and so are results.
_DRAWS = words(
    """
    bernoulli binomial bootstrap cauchy choice choices dropout dropout1d dropout2d dropout3d alpha_dropout exponential
    gauss geometric gumbel_softmax integers log_normal manual_seed manual_seed_all multinomial normal permutation
    permuted poisson rand rand_like randint randint_like randn randn_like random randperm randrange rsample rvs sample
    sample_n seed shuffle standard_normal train_test_split uniform
    """
)
_SEEDS = ("random_state", "seed")
_WITHOUT_GRADIENTS = ("no_grad", "inference_mode")
_DEEPEST = 4


def imported(tree: ast.Module) -> dict[str, str]:
    """The names that the text imports, each with the full name of what it stands for."""
    found = dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                root = each.name.partition(".")[0]
                found[each.asname or root] = each.name if each.asname else root
        elif isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name: f"{node.module or ''}.{each.name}" for each in node.names}
    return found


def only_known(node: ast.AST, functions: Mapping[str, _Function], modules: Mapping[str, str], depth: int = 0) -> bool:
    """Whether everything that it calls is one of these functions, a library's, a method of a value, or, where the
    function computes without gradients, a model. What draws random numbers is not: later ones depend on it."""
    without = _without_gradients(node)
    for each in ast.walk(node):
        if not isinstance(each, ast.Call):
            continue
        name = dotted(each.func)
        if isinstance(each.func, ast.Name) and name in functions:
            if depth == _DEEPEST or not only_known(functions[name], functions, modules, depth + 1):
                return False
        elif _draws(each):
            return False
        elif isinstance(each.func, ast.Name) and name not in modules:
            if not (hasattr(builtins, name) and name not in _OTHER_CODE) and not without:
                return False
        elif (root := name.partition(".")[0]) in modules:
            if modules[root].partition(".")[0] not in _LIBRARIES:
                return False
        elif _fills_own(each, node):
            continue
        # else of an object that may be anything: `trainer.critic_step()`
        elif isinstance(each.func, ast.Attribute) and each.func.attr not in DATA_METHODS | _LISTS | (
            _OF_MODELS if without else set()
        ):
            return False
    return True


def _fills_own(call: ast.Call, within: ast.AST) -> bool:
    """`rows.append(x)` of a list that is made there: `rows = []`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _FILLING:
        return False
    name = dotted(call.func.value)
    made = (each for each in ast.walk(within) if isinstance(each, ast.Assign) and isinstance(each.value, ast.List))
    return any(dotted(target) == name for each in made for target in each.targets)


def is_mode(call: ast.Call, within: ast.AST) -> bool:
    """Whether it is `model.train()` of a function that has said `model.eval()`: it only puts the model back."""
    if call.args or call.keywords or not isinstance(call.func, ast.Attribute) or call.func.attr != "train":
        return False
    model = dotted(call.func.value)
    others = (each for each in ast.walk(within) if isinstance(each, ast.Call) and each is not call)
    return any(isinstance(each.func, ast.Attribute) and dotted(each.func) == f"{model}.eval" for each in others)


def _draws(call: ast.Call) -> bool:
    """`torch.randn_like(x)`, `buffer.sample(64)`, `x.normal_()`, all of `np.random`."""
    if any(each.arg in _SEEDS and _is_number(each.value) for each in call.keywords):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    return name.removesuffix("_") in _DRAWS or "random" in dotted(call.func).split(".")[:-1]


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is not None


def _without_gradients(node: ast.AST) -> bool:
    named = (dotted(each) for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute))
    return any(each.rpartition(".")[2] in _WITHOUT_GRADIENTS for each in named)
