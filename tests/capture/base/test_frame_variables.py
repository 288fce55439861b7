"""A running function's variables are read, unless it may hold the dict that reading them clears."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.capture.base.frame_variables import with_variables


class Model:
    def eval(self) -> Model:
        return self


def plain(look: Callable[[], None]) -> int:
    kept = 7
    look()
    return kept


def evaluates(look: Callable[[], None]) -> int:
    kept, model = 7, Model()
    model.eval()
    look()
    return kept


def asks(look: Callable[[], None]) -> dict[str, Any]:
    kept = 7
    found = locals()
    look()
    return found


def variables_seen(function: Callable[[Callable[[], None]], Any]) -> tuple[dict[str, Any], Any]:
    """What was seen of its variables, and what it returned."""
    seen = dict[str, Any]()

    def look() -> None:
        with_variables(sys._getframe(1), lambda variables: seen.update(variables))

    return seen, function(look)


@pytest.mark.parametrize("function", [plain, evaluates])
def test_a_method_of_that_name_is_not_the_builtin(function: Callable[[Callable[[], None]], Any]) -> None:
    seen, returned = variables_seen(function)
    assert seen["kept"] == returned == 7


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="reading variables makes no dict that the function has")
def test_what_asks_for_its_variables_is_left_alone() -> None:
    seen, returned = variables_seen(asks)
    assert seen == {} and returned["kept"] == 7
