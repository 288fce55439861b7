"""Elements of recorded shapes."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from gpuprof.ingest.shapes import elements, first_type


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("dims", "number"),
    [
        ([[1000]], 1000),
        ([[2, 3], [4]], 10),
        ([[[1000]], [], []], 1000),
        ([[], []], -1),
        ([], -1),
        ("no list", -1),
        ([[-1]], -1),
        ([[1 << 40, 1 << 40]], 1 << 62),
    ],
)
def test_elements_of_all_tensors(dims: Any, number: int) -> None:
    assert elements(raw(dims)) == number


def test_what_is_no_json_has_none() -> None:
    assert elements(msgspec.Raw(b"")) == elements(msgspec.Raw(b"[[1")) == -1
    assert first_type(msgspec.Raw(b"")) is None


def test_first_type() -> None:
    assert first_type(raw(["TensorList", "", "Scalar", "float"])) == "float"
    assert first_type(raw(["Scalar"])) is None
