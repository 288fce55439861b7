"""Every argument that advice names is one of the installed framework."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import pytest

from gpuprof.frameworks import PACKAGES, Change, framework

_CODE = re.compile(r"`([^`]+)`")
_ARGUMENT = re.compile(r"(?<![\w.])(\w+)=")


def changes() -> list[Any]:
    known = [framework(package) for package in PACKAGES]
    return [
        pytest.param(each.package, major, change, id=f"{each.package}-{rule}")
        for each in known
        if each is not None
        for major, words in each.words.items()
        for rule, change in words.items()
    ]


def named(path: str) -> Any:
    """The object of an import path: a class, a function or a method."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(path)


def arguments(text: str) -> set[str]:
    return {name for code in _CODE.findall(text) for name in _ARGUMENT.findall(code)}


def accepted(of: str) -> set[str]:
    return {name for path in of.split() for name in inspect.signature(named(path)).parameters}


@pytest.mark.parametrize(("package", "major", "change"), changes())
def test_the_installed_version_has_the_words(package: str, major: int, change: Change) -> None:
    version = pytest.importorskip(package).__version__
    assert int(version.partition(".")[0]) == major


@pytest.mark.parametrize(("package", "major", "change"), changes())
def test_each_argument_is_in_the_signature(package: str, major: int, change: Change) -> None:
    pytest.importorskip(package)
    asked = {name for name in arguments(change.text) if "__" not in name}
    known = accepted(change.of) if change.of else accepted("torch.optim.Adam")
    assert asked <= known, asked - known
    for path in change.of.split():
        assert named(path) is not None


def test_this_test_would_notice() -> None:
    assert arguments("Set `f(one=1, two=2)`, or `three=`.") == {"one", "two", "three"}
    assert "no_such_argument" not in accepted("torch.optim.Adam") and "fused" in accepted("torch.optim.Adam")
