"""Which operators read how: names of torch's operators without namespace, overload and the `_` of those in place."""

from __future__ import annotations

from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# An element of the result depends on the elements of the arguments at its own place.
ELEMENTWISE = _words("""
    abs acos acosh add addcdiv addcmul angle asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not
    bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp clamp_max clamp_min clone copy copysign cos cosh div elu
    eq erf erfc erfinv exp exp2 expm1 floor floor_divide fmax fmin fmod frac ge gelu gelu_backward gt hardsigmoid
    hardswish hardtanh heaviside hypot isfinite isinf isnan le leaky_relu leaky_relu_backward lerp lgamma log log10
    log1p log2 logaddexp logical_and logical_not logical_or logical_xor logit lt masked_fill maximum minimum mish mul
    nan_to_num native_dropout native_dropout_backward ne neg pow reciprocal relu relu6 remainder round rsqrt rsub
    selu sgn sigmoid sigmoid_backward sign silu silu_backward sin sinh softplus softplus_backward sqrt square sub tan
    tanh tanh_backward threshold threshold_backward tril triu trunc where xlogy _to_copy
    """)

# An element of the result depends on whole lines of the argument along the axes that its arguments name.
ALONG_AXES = _words("""
    all amax amin any argmax argmin argsort cumprod cumsum flip log_softmax logcumsumexp logsumexp max mean median min
    norm prod roll softmax sort std sum topk var var_mean _log_softmax _log_softmax_backward_data _softmax
    _softmax_backward_data linalg_vector_norm
    """)
# where in their arguments the axes are named, unless at 1
AXES_AT = {"_log_softmax_backward_data": 2, "_softmax_backward_data": 2, "linalg_vector_norm": 2, "norm": 2, "topk": 2}
AXES_AT |= {"flip": 1, "roll": 2, "sort": 1}

# A row of the result depends on that row of the first argument: over the last axes, as many as the second names.
OVER_LAST_AXES = frozenset({"native_layer_norm", "_fused_rms_norm", "rms_norm"})

# A row depends on that row of the first factor, a column on that column of the second. The place of the first factor.
PRODUCTS = {"mm": 0, "bmm": 0, "matmul": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1}
# The second factor has its rows where the others have columns.
PAIRS = frozenset({"cdist", "_cdist_forward", "_euclidean_dist"})

# The samples of a batch do not depend on each other.
BATCHED = _words("""
    convolution mkldnn_convolution cudnn_convolution
    """)
# neither do channels
BATCHED_CHANNELS = _words("""
    max_pool2d max_pool2d_with_indices avg_pool2d _adaptive_avg_pool2d upsample_nearest2d upsample_bilinear2d
    upsample_bicubic2d
    """)

ATTENTION = _words("""
    _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_cudnn_attention
    _scaled_dot_product_efficient_attention scaled_dot_product_attention
    """)

# They take elements of their first argument that their other arguments name: no more than their result has. So do
# views that are written out.
TAKES = frozenset({"index", "index_select", "gather", "embedding", "take", "masked_select", "take_along_dim"}) | {
    "diagonal_copy", "narrow_copy", "select_copy", "slice_copy"
}  # fmt: skip

# With full matrices, larger ones than the smaller side needs: by results, the place of `full_matrices` is 1.
DECOMPOSITIONS = frozenset({"_linalg_svd", "linalg_svd"})

# They do more than their results show: running statistics, checks. What is not of torch itself may, too.
_ACTS = ("batch_norm", "record_function", "assert", "print", "set_", "resize_")

# What they make does not depend on what their first argument holds.
MAKES = _words("""
    empty_like new_empty new_empty_strided zeros_like new_zeros ones_like new_ones full_like new_full rand_like
    randn_like randint_like zero
    """)
# neither, where they write a number or random ones into it
_WRITES = _words("fill normal uniform random exponential bernoulli geometric cauchy log_normal")


@cache
def plain(name: str) -> str:
    """`_softmax` of `aten::_softmax.out`, `add` of `aten::add_.Tensor`; a name of another library stays as it is."""
    if not name.startswith("aten::"):
        return name
    base = name.removeprefix("aten::").partition(".")[0]
    return base[:-1] if base.endswith("_") and not base.endswith("__") else base


@cache
def acts(name: str) -> bool:
    """Whether the operator uses its arguments, whoever reads its results; or may."""
    return not name.startswith("aten::") or (any(part in name for part in _ACTS) and "_backward" not in name)


@cache
def makes(name: str) -> bool:
    """Whether what it makes does not depend on the content of any argument."""
    base = plain(name)
    return base in MAKES or (base in _WRITES and f"{base}_" in name and not name.endswith(".Tensor"))
