"""Where the cell calls a function of its own."""

from __future__ import annotations

import ast


def call_lines(source: str, function: str, within: str) -> tuple[int, ...]:
    """The lines of the function `within` that call `function`; both are qualified names (`Net.forward`, `<module>`).

    Methods are known by their last name alone. Empty where none does, or the text cannot be parsed.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    wanted = function.rpartition(".")[2]
    caller = next((node for name, node in _scopes(tree, "") if name == within), None)
    if caller is None:
        return ()
    calls = (node for node in ast.walk(caller) if isinstance(node, ast.Call))
    return tuple(sorted({call.lineno for call in calls if _called(call.func) == wanted}))


def _scopes(node: ast.AST, prefix: str) -> list[tuple[str, ast.AST]]:
    """Every function with its qualified name, and the module as `<module>`."""
    found: list[tuple[str, ast.AST]] = [("<module>", node)] if isinstance(node, ast.Module) else []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{prefix}{child.name}"
            found += [(name, child), *_scopes(child, f"{name}.<locals>.")]
        elif isinstance(child, ast.ClassDef):
            found += _scopes(child, f"{prefix}{child.name}.")
        else:
            found += _scopes(child, prefix)
    return found


def _called(function: ast.expr) -> str | None:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else None
