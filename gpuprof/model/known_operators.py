"""Operators that reader and analyses know by name: those whose arithmetic follows from their shapes only together with
numbers that they were given, those that take a part of a tensor along one dimension, and those that make the dense
gradient of an embedding table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# forward: input, weight, bias, stride, padding, dilation, transposed
CONVOLUTION_FORWARDS = frozenset({"aten::convolution", "aten::_convolution", "aten::convolution_overrideable"})
CONVOLUTION_BACKWARDS = frozenset({"aten::convolution_backward"})

_SDPA = "aten::_scaled_dot_product_"
# of fused attention the place of `is_causal` among its arguments, by torch's own schemas
ATTENTION_FORWARDS: Mapping[str, int] = MappingProxyType(
    {
        f"{_SDPA}flash_attention": 4,
        f"{_SDPA}flash_attention_for_cpu": 4,
        f"{_SDPA}efficient_attention": 6,
        f"{_SDPA}cudnn_attention": 6,
        f"{_SDPA}fused_attention_overrideable": 5,
    }
)
ATTENTION_BACKWARDS: Mapping[str, int] = MappingProxyType(
    {
        f"{_SDPA}flash_attention_backward": 11,
        f"{_SDPA}flash_attention_for_cpu_backward": 7,
        f"{_SDPA}efficient_attention_backward": 11,
        f"{_SDPA}cudnn_attention_backward": 14,
        f"{_SDPA}fused_attention_overrideable_backward": 13,
    }
)

WITH_NUMBERS = frozenset(
    {*CONVOLUTION_FORWARDS, *CONVOLUTION_BACKWARDS, *ATTENTION_FORWARDS, *ATTENTION_BACKWARDS},
)

SELECT, SLICE, NARROW, UNBIND = "aten::select", "aten::slice", "aten::narrow", "aten::unbind"
SLICES = frozenset({SELECT, SLICE, NARROW, UNBIND})
LOOKUP, BAG = "aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"
DENSE_BACKWARDS = frozenset({LOOKUP, BAG})

# how much arithmetic these do, no shape tells: recurrent layers, distances, decompositions, transforms
WITHOUT_FORMULA = frozenset(
    f"aten::{name}"
    for name in (
        *("mkldnn_rnn_layer", "mkldnn_rnn_layer_backward", "_cudnn_rnn", "_cudnn_rnn_backward", "miopen_rnn"),
        *("miopen_rnn_backward", "_cdist_forward", "_cdist_backward", "_euclidean_dist", "_linalg_svd", "_linalg_eigh"),
        *("linalg_eig", "linalg_qr", "linalg_inv_ex", "linalg_cholesky_ex", "linalg_lu_factor_ex", "_linalg_solve_ex"),
        *("linalg_lstsq", "_fft_r2c", "_fft_c2c", "_fft_c2r"),
    )
)
