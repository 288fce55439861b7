"""Which lines of a source run without gradients or evaluate, and which functions are there to evaluate or generate."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

_WITHOUT_GRADIENTS = ("no_grad", "inference_mode")
_GENERATING = re.compile(r"^generate(_|$)")
_TRAINS = ("backward", "step")
_LOGS = re.compile(
    r"(print|pprint|tqdm\.write)$|(.*\.)?(log(ger|ging)?|console|writer|tb|tensorboard|run|experiment|wandb|mlflow|"
    r"neptune|p?bar|progress)\.(debug|info|warning|error|critical|print|log|log_\w+|add_\w+|set_postfix\w*|"
    r"set_description\w*|write\w*)$"
)
_READS = frozenset({"item", "tolist", "cpu", "numpy", "float"})
_MORE_THAN_THAT = re.compile(r"train|fit|main|run")
_TRAINING_STEP = re.compile(r"^train(ing)?_step(_single)?$")
_EVALUATING = re.compile(r"(^|_)(eval|evaluate|evaluation|val|valid|validate|validation|test)(_|$)")


@lru_cache(maxsize=64)
def lines_without_gradients(source: str) -> frozenset[int]:
    """The lines in `with torch.no_grad()` (or `inference_mode`) blocks, and in functions so decorated.

    Empty where the source does not parse.
    """
    found: set[int] = set()
    for node in _nodes(source):
        marks: list[ast.expr] = []
        if isinstance(node, (ast.With, ast.AsyncWith)):
            marks = [item.context_expr for item in node.items]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = node.decorator_list
        if any(_name(mark) in _WITHOUT_GRADIENTS for mark in marks):
            found.update(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
    return frozenset(found)


@lru_cache(maxsize=64)
def lines_of_evaluation(source: str) -> frozenset[int]:
    """The lines from `model.eval()` to `model.train()` of one block, where a loop stands between them that neither
    computes gradients nor steps: a pass over data in the middle of training. A model that acts or labels stands
    without a loop.

    Empty where the source does not parse.
    """
    found: set[int] = set()
    for node in _nodes(source):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list):
                found.update(*(range(first + 1, last) for first, last in _closed(block)))
    return frozenset(found)


def _closed(block: list[ast.stmt]) -> list[tuple[int, int]]:
    """The lines of each `model.eval()` of the block and of the `model.train()` that ends it."""
    begun, found = dict[str, int](), []
    for number, statement in enumerate(block):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        model = ast.unparse(call.func.value)
        if call.func.attr == "eval":
            begun[model] = number
        elif call.func.attr == "train" and model in begun:
            first = begun.pop(model)
            if _reads_only(block[first + 1 : number]):
                found.append((block[first].lineno, statement.lineno))
    return found


def _reads_only(statements: list[ast.stmt]) -> bool:
    nodes = [node for statement in statements for node in ast.walk(statement)]
    calls = {_name(node) for node in nodes if isinstance(node, ast.Call)}
    return any(isinstance(node, (ast.For, ast.While)) for node in nodes) and calls.isdisjoint(_TRAINS)


@lru_cache(maxsize=64)
def lines_of_training(source: str) -> frozenset[int]:
    """The lines whose innermost block computes gradients (`loss.backward()`), however rarely it runs.

    Empty where the source does not parse.
    """
    found: set[int] = set()
    # an inner block stands after the one around it
    for node in _nodes(source):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and block:
                lines = range(block[0].lineno, (block[-1].end_lineno or block[-1].lineno) + 1)
                calls = [each for statement in block for each in ast.walk(statement) if isinstance(each, ast.Call)]
                if any(_name(call) == "backward" for call in calls):
                    found.update(lines)
                else:
                    found.difference_update(lines)
    return frozenset(found)


@lru_cache(maxsize=64)
def lines_of_logging(source: str) -> frozenset[int]:
    """The lines of statements that only log: `print(…)`, `logger.info(…)`, `writer.add_scalar(…)`, `wandb.log(…)`.

    One that reads a value from the device (`.item()`) waits for what ran before, and is none. Empty where the source
    does not parse.
    """
    found: set[int] = set()
    for node in _nodes(source):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        inner = [each for each in ast.walk(node.value) if isinstance(each, ast.Call) and each is not node.value]
        if _LOGS.match(ast.unparse(node.value.func)) and _READS.isdisjoint(_name(each) for each in inner):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


def generates(function: str) -> bool:
    """Whether its name says that it generates: `generate`, `generate_text`."""
    return bool(_GENERATING.search(function.rsplit(".", 1)[-1].lower()))


def is_training_step(function: str) -> bool:
    """Whether its name says that it is one step of training, as frameworks call it: `training_step`, `train_step`."""
    return bool(_TRAINING_STEP.search(function.rsplit(".", 1)[-1]))


def evaluates(function: str) -> bool:
    """Whether its name says that it evaluates, and nothing else: `evaluate`, `val_epoch`, not `train_and_test`."""
    name = function.rsplit(".", 1)[-1].lower()
    return bool(_EVALUATING.search(name)) and not _MORE_THAN_THAT.search(name)


def _nodes(source: str) -> list[ast.AST]:
    # a magic on the first line is not Python
    lines = ["" if line.startswith(("%", "!")) else line for line in source.splitlines()]
    try:
        return list(ast.walk(ast.parse("\n".join(lines))))
    except (SyntaxError, ValueError):
        return []


def _name(mark: ast.expr) -> str:
    if isinstance(mark, ast.Call):
        mark = mark.func
    return mark.attr if isinstance(mark, ast.Attribute) else mark.id if isinstance(mark, ast.Name) else ""
