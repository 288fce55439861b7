"""What code does to the world outside its variables, known by its names: that cannot be put back, so it is refused."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType

from gpuprof.errors import VerificationError

_WRITERS = frozenset(
    {
        *("savefig", "save_pretrained", "save_checkpoint", "save_model", "save_weights", "savez", "savez_compressed"),
        *("savetxt", "tofile", "to_csv", "to_json", "to_parquet", "to_pickle", "to_feather", "to_hdf", "to_excel"),
        *(
            "to_sql",
            "write_text",
            "write_bytes",
            "unlink",
            "rmdir",
            "rmtree",
            "makedirs",
            "mkdir",
            "touch",
            "symlink_to",
        ),
        *("push_to_hub", "add_scalar", "add_scalars", "add_image", "add_histogram", "export_chrome_trace"),
    }
)
# a block may end before the line that stops them
_STARTERS = frozenset({"Thread", "Timer", "Process", "create_task", "ensure_future", "run_coroutine_threadsafe"})
# of these modules any call, of those the named ones
_OUTSIDE = frozenset(
    {"subprocess", "shutil", "requests", "urllib", "wandb", "mlflow", "neptune", "comet_ml", "httpx", "socket"}
)
_CALLS = {
    "torch": {"save"},
    "np": {"save"},
    "numpy": {"save"},
    "json": {"dump"},
    "pickle": {"dump"},
    "yaml": {"dump"},
    "joblib": {"dump"},
    "os": {"system", "remove", "rename", "replace", "removedirs", "fork", "kill", "truncate", "popen"},
    "dist": {"init_process_group"},
}
_HARMLESS_MAGICS = frozenset({"matplotlib", "config", "precision", "autoreload", "pylab", "time", "timeit"})
_READ_MODES = frozenset("rbtU")


@dataclass(frozen=True)
class Effect:
    """One of them: what it is, and its line in the code looked at (from 1)."""

    what: str
    line: int


def refuse_effects(source: str, functions: Iterable[FunctionType] = ()) -> None:
    """VerificationError where a cell, or a function that it calls by name, writes files, asks the user, or the like."""
    tree = ast.parse(source)
    found = effects(tree)
    if found:
        raise _refusal(found[0], f"line {found[0].line} of the cell")
    called, waiting = _called(tree), list(functions)
    while chosen := [each for each in waiting if _may_be_called(each, called)]:
        waiting = [each for each in waiting if each not in chosen]
        for function in chosen:
            body = _tree_of(function)
            if body is None:
                continue
            if found := effects(body):
                raise _refusal(found[0], f"{function.__qualname__}(), which the cell calls")
            called |= _called(body)


def effects(tree: ast.AST) -> list[Effect]:
    """What in this code acts outside its own variables, in its order."""
    found = []
    for node in ast.walk(tree):
        what = _effect(node)
        if what is not None:
            found.append(Effect(what, getattr(node, "lineno", 0)))
    return sorted(found, key=lambda each: each.line)


def _effect(node: ast.AST) -> str | None:
    if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
        return "it awaits"
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    if isinstance(function, ast.Name):
        if function.id in ("input", "getpass", "breakpoint"):
            return f"it waits for the user ({function.id})"
        if function.id in _STARTERS:
            return f"it starts what runs beside it ({function.id})"
        return "it opens a file to write" if function.id == "open" and _writes(node, 1) else None
    if not isinstance(function, ast.Attribute):
        return None
    owner, name = function.value, function.attr
    if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "get_ipython":
        return _magic(name, node)
    root = owner
    while isinstance(root, ast.Attribute):
        root = root.value
    module = root.id if isinstance(root, ast.Name) else ""
    if name == "open" and module not in ("Image", "PIL") and _writes(node, 0):
        return "it opens a file to write"
    if name in _STARTERS:
        return f"it starts what runs beside it ({ast.unparse(function)})"
    if name in _WRITERS or module in _OUTSIDE or name in _CALLS.get(module, ()):
        return f"it acts outside its variables ({ast.unparse(function)})"
    return None


def _magic(name: str, call: ast.Call) -> str | None:
    asked = str(ast.literal_eval(call.args[0])) if call.args and isinstance(call.args[0], ast.Constant) else ""
    if name == "run_line_magic" and asked in _HARMLESS_MAGICS:
        return None
    return "it runs a shell command" if name in ("system", "getoutput") else f"it runs a magic (%{asked})"


def _writes(call: ast.Call, at: int) -> bool:
    given = [word.value for word in call.keywords if word.arg == "mode"] or call.args[at : at + 1]
    if not given:
        return False
    mode = given[0]
    return not (isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) <= _READ_MODES)


def _called(tree: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _may_be_called(function: FunctionType, called: set[str]) -> bool:
    name = function.__name__
    return name in called or (name.startswith("__") and name.endswith("__")) or name in ("forward", "<lambda>")


def _tree_of(function: FunctionType) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # written by no file or cell, or a lambda in the middle of a line
        return None


def _refusal(effect: Effect, where: str) -> VerificationError:
    return VerificationError(
        f"the cell cannot be run again and again: {effect.what}, {where}; leave that out of the cell, or measure two "
        "functions with gpuprof.verify(a, b)"
    )
