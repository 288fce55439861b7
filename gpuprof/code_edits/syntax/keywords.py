"""Keyword arguments of one call, set or removed in the style in which the call is written."""

from __future__ import annotations

import libcst as cst

from gpuprof.code_edits.syntax.tree import CellTree

Space = cst.BaseParenthesizableWhitespace


def keyword_of(call: cst.Call, name: str) -> cst.Arg | None:
    """The argument given by that keyword."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def is_open(call: cst.Call) -> bool:
    """Whether it passes `*` or `**`: then its arguments are not all known."""
    return any(arg.star for arg in call.args)


def positional(call: cst.Call) -> int:
    """How many arguments it passes by position."""
    return sum(arg.keyword is None for arg in call.args)


def with_keyword(call: cst.Call, name: str, value: str) -> cst.Call:
    """The call with `name=value`: in its place where it is given already, else as the last argument."""
    known = keyword_of(call, name)
    if known is not None:
        return call.with_deep_changes(known, value=cst.parse_expression(value))
    given = cst.Arg(
        keyword=cst.Name(name),
        value=cst.parse_expression(value),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    if not call.args:
        return call.with_changes(args=[given])
    *others, last = call.args
    last = _in_parentheses(last)
    if isinstance(last.comma, cst.Comma):
        between, closing = _split(call, last.comma.whitespace_after)
        comma = last.comma.with_changes(whitespace_after=between)
        given = given.with_changes(comma=last.comma.with_changes(whitespace_after=closing))
    else:
        comment = "#" in cst.Module([]).code_for_node(last)
        if comment or (len(call.args) == 1 and _breaks(last.whitespace_after_arg)):
            between, closing = _split(call, last.whitespace_after_arg)
        else:
            before = others[-1].comma if others else None
            between = before.whitespace_after if isinstance(before, cst.Comma) else cst.SimpleWhitespace(" ")
            between, closing = between if "#" not in _text(between) else _plain(between), last.whitespace_after_arg
        comma = cst.Comma(whitespace_after=between)
        given = given.with_changes(whitespace_after_arg=closing)
    last = last.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*others, last, given])


def without_keyword(call: cst.Call, name: str) -> cst.Call:
    """The call without that keyword argument; unchanged where it has none."""
    known = keyword_of(call, name)
    if known is None:
        return call
    at = list(call.args).index(known)
    args = [arg for arg in call.args if arg is not known]
    if at == len(args) and args:
        args[-1] = args[-1].with_changes(comma=known.comma, whitespace_after_arg=known.whitespace_after_arg)
    return call.with_changes(args=args)


def literal(tree: CellTree, call: cst.Call, name: str) -> str | None:
    """The text of what that keyword is given; None where it is not given."""
    known = keyword_of(call, name)
    return None if known is None else tree.code(known.value)


def _in_parentheses(arg: cst.Arg) -> cst.Arg:
    """A generator that was the only argument needs parentheses of its own beside another."""
    if isinstance(arg.value, cst.GeneratorExp) and not arg.value.lpar:
        wrapped = arg.value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return arg.with_changes(value=wrapped)
    return arg


def _split(call: cst.Call, after: Space) -> tuple[Space, Space]:
    """What stands between the last argument and the closing bracket, as (to a new argument, to the bracket).

    A comment there belongs to the argument before it.
    """
    if not isinstance(after, cst.ParenthesizedWhitespace):
        previous = call.args[-2].comma if len(call.args) > 1 else None
        spaced = previous.whitespace_after if isinstance(previous, cst.Comma) else cst.SimpleWhitespace(" ")
        return (spaced if "#" not in _text(spaced) else _plain(spaced)), after
    commas = [arg.comma for arg in call.args[:-1] if isinstance(arg.comma, cst.Comma)]
    layouts = [call.whitespace_before_args, *(comma.whitespace_after for comma in commas)]
    model = next((each for each in reversed(layouts) if isinstance(each, cst.ParenthesizedWhitespace)), after)
    return after.with_changes(last_line=model.last_line, indent=model.indent), _plain(after)


def _plain(space: Space) -> Space:
    """The same line break without comments and empty lines."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    return space.with_changes(first_line=cst.TrailingWhitespace(newline=space.first_line.newline), empty_lines=[])


def _breaks(space: Space) -> bool:
    return isinstance(space, cst.ParenthesizedWhitespace)


def _text(space: Space) -> str:
    return cst.Module([]).code_for_node(space)
