"""What the notebook's text attaches again and again and never takes off: hooks, handlers, callbacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gpuprof.analyses.loops.written_loops import parsed

_ATTACHES = re.compile(
    r"^(register_\w*(hook|callback)s?|add_\w*(hook|callback|listener|observer|handler)s?|addHandler|addFilter|"
    r"register_callback|connect|mpl_connect|subscribe|observe|add_param_group|attach)$"
)
_TAKES_OFF = re.compile(
    r"^(remove|removeHandler|removeFilter|remove_\w+|disconnect|mpl_disconnect|unsubscribe|unobserve|unregister\w*|"
    r"detach_\w+|deregister\w*|reset_hooks|clear)$"
)
_Loop = ast.For | ast.AsyncFor | ast.While
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def attachments(source: str) -> Iterator[tuple[str, int, tuple[int, ...], tuple[int, int]]]:
    """What is called to attach, its line, the lines of the functions that are attached and of those that they call,
    and the first and last line of the loop or function around it.

    Only where it is in a loop, or in a function that a loop calls, and nothing in the text takes anything off.
    """
    tree = parsed(source)
    if tree is None or any(_called(node, _TAKES_OFF) for node in ast.walk(tree)):
        return
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, _Function)}
    again = _called_in_loops(tree, functions)
    for around in ast.walk(tree):
        if isinstance(around, _Loop) or (isinstance(around, _Function) and around.name in again):
            for node in _own(around):
                if _called(node, _ATTACHES):
                    assert isinstance(node, ast.Call)
                    works = _works(node, functions)
                    if works:
                        last = around.end_lineno or around.lineno
                        yield ast.unparse(node.func), node.lineno, works, (around.lineno, last)


def _called(node: ast.AST, names: re.Pattern[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and bool(names.match(node.func.attr))


def _called_in_loops(tree: ast.Module, functions: dict[str, _Function]) -> set[str]:
    """The functions that a loop calls, or that one of those calls."""
    found = set[str]()
    waiting = [node for loop in ast.walk(tree) if isinstance(loop, _Loop) for node in loop.body]
    while waiting:
        names = {_name(node.func) for node in ast.walk(waiting.pop()) if isinstance(node, ast.Call)}
        for name in (names & functions.keys()) - found:
            found.add(name)
            waiting += functions[name].body
    return found


def _own(around: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a loop's or function's body, without those of functions and inner loops of a loop."""
    for node in ast.iter_child_nodes(around):
        if isinstance(node, _Function | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(around, _Loop) and isinstance(node, _Loop):
            continue  # that loop tells of itself
        yield node
        yield from _own(node)


def _works(call: ast.Call, functions: dict[str, _Function]) -> tuple[int, ...]:
    """The lines of what the call is given, functions and lambdas, and of what these call."""
    given = [node for each in (*call.args, *(one.value for one in call.keywords)) for node in ast.walk(each)]
    lines = {line for node in given if isinstance(node, ast.Lambda) for line in _lines(node)}
    waiting, seen = list[ast.AST](given), set[str]()
    while waiting:
        for node in ast.walk(waiting.pop()):
            name = _name(node) if isinstance(node, ast.Name | ast.Attribute) else ""
            if name in functions and name not in seen:
                seen.add(name)
                lines |= _lines(functions[name])
                waiting += functions[name].body
    return tuple(sorted(lines))


def _lines(node: ast.Lambda | _Function) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
