"""Every function of a class is marked as what torch.compile leaves alone, however it is bound."""

from __future__ import annotations

import functools
from types import CodeType

import pytest
import torch

from gpuprof.capture.base.compiler_skips import hide_from_compiler


class Bound:
    def plain(self) -> list[int]:
        return list(map(lambda each: each + 1, [1]))  # noqa: C417  - a function within

    @property
    def read(self) -> int:
        return 1

    @staticmethod
    def static() -> int:
        return 1

    @classmethod
    def of_class(cls) -> int:
        return 1

    @functools.cached_property
    def kept(self) -> int:
        return 1

    @staticmethod
    @functools.cache
    def remembered() -> int:
        return 1


def outside() -> int:
    return 1


def test_each_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    marked: list[CodeType] = []
    monkeypatch.setattr(torch._C._dynamo.eval_frame, "skip_code", marked.append, raising=False)
    hide_from_compiler(Bound, outside)
    names = {each.co_qualname.removeprefix("Bound.") for each in marked}
    assert names == {
        *("plain", "plain.<locals>.<lambda>", "read", "static", "of_class", "kept", "remembered"),
        "outside",
    }
