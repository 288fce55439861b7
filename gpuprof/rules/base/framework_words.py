"""The advice in the words of the framework that made the loader or the optimizer, or drives the loop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gpuprof.frameworks import Change, Subject, framework
from gpuprof.model.context import RunContext
from gpuprof.rules.base.finding import Finding


def in_its_words(found: Finding, context: RunContext) -> Finding:
    """The finding with that framework's own argument in its advice; as it is where none has one.

    Where the general advice does not hold what the argument would do, it stays.
    """
    for change in _changes(found.rule, context):
        text = _applied(change, found.change)
        if text is not None:
            return replace(found, change=text)
    return found


def _changes(rule: str, context: RunContext) -> Iterator[Change]:
    versions = {each.package: each.version for each in context.frameworks}
    loaders = [each.maker for each in context.loaders]
    optimizers = [each.maker for each in context.optimizers]
    for package in dict.fromkeys((*optimizers, *loaders)):
        known = None if package is None else framework(package)
        change = None if known is None else known.change(rule, versions.get(known.package, ""))
        makers = {Subject.LOADER: loaders, Subject.OPTIMIZER: optimizers, Subject.RUN: [package]}
        if change is not None and package in makers[change.subject]:
            yield change


def _applied(change: Change, advice: str) -> str | None:
    if not change.replaces:
        return f"{change.text} {advice}".strip()
    found = re.search(change.replaces, advice, re.DOTALL)
    return None if found is None else f"{advice[: found.start()]}{found.expand(change.text)}{advice[found.end() :]}"
