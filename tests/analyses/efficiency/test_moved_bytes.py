"""Bytes of one call, by hand."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.tensor_inputs import read_inputs
from gpuprof.analyses.efficiency.moved_bytes import moved_bytes, moves

FLOATS = '["float", "float", "float"]'


@pytest.mark.parametrize(
    ("name", "dims", "types", "expected"),
    [
        ("aten::add", "[[8, 4], [4], []]", '["float", "float", "Scalar"]', 4 * (32 + 4 + 32)),
        ("aten::mul", "[[8, 1], [1, 4]]", FLOATS, 4 * (8 + 4 + 32)),
        ("aten::add", "[[8], [8]]", '["float", "c10::Half"]', 32 + 16 + 16),
        ("aten::eq", "[[8], []]", '["long int", "Scalar"]', 64 + 8),
        ("aten::mul_", "[[8], [8]]", FLOATS, 4 * (8 + 8 + 8)),
        ("aten::copy_", "[[8], [8], []]", '["c10::BFloat16", "float", ""]', 16 + 32),
        ("aten::fill_", "[[8], []]", '["float", "Scalar"]', 32),
        ("aten::sum", "[[8, 4], [], []]", '["float", "", ""]', 128),
        ("aten::_softmax", "[[8, 4], [], []]", '["float", "Scalar", "Scalar"]', 256),
        ("aten::native_layer_norm", "[[8, 4], [], [4], [4], []]", '["float", "", "float", "float", "Scalar"]', 288),
        ("aten::cudnn_batch_norm_backward", "[[2, 3, 4], [2, 3, 4], [0]]", '["float", "float", "bool"]', 2 * 96 + 24),
    ],
)  # fmt: skip
def test_inputs_once_and_the_result_once(name: str, dims: str, types: str, expected: int) -> None:
    assert moves(name) and moved_bytes(name, read_inputs(dims, types)) == expected


@pytest.mark.parametrize(
    ("name", "dims", "types"),
    [
        ("aten::mm", "[[2, 2], [2, 2]]", FLOATS),
        ("aten::add", "[[8], [8]]", '["float", "c10::complex<float>"]'),
        ("aten::add", "[[8], [8]]", "[]"),
        ("aten::add", "[[8], [7]]", FLOATS),
        ("aten::add", "[[], []]", FLOATS),
        ("aten::add", "[]", FLOATS),
    ],
)
def test_what_is_not_known_is_unknown(name: str, dims: str, types: str) -> None:
    assert moved_bytes(name, read_inputs(dims, types)) is None
