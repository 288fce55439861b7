"""What the fields of a file say of the run."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.ingest.head import torch_of


def nested(depth: int) -> Any:
    """The line of a `pip freeze` under so many lists."""
    value: Any = "torch==2.5.1"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(("depth", "version"), [(0, "2.5.1"), (4, "2.5.1"), (5, None), (9, None)])
def test_the_version_of_torch_is_looked_for_four_levels_deep(depth: int, version: str | None) -> None:
    assert torch_of({"metadata": nested(depth)}) == version


def test_a_field_of_its_own_comes_first() -> None:
    assert torch_of({"metadata": nested(1), "pytorch_version": "2.9.0"}) == "2.9.0"
    assert torch_of({}) is None
