"""Names of functions, methods and modules that compute their result from what they are given, and do nothing else."""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """Those of a text, parted by white space."""
    return frozenset(text.split())


VIEWS = words(
    """
    T H mT mH as_tensor asarray atleast_1d atleast_2d atleast_3d bool broadcast_to chunk coalesce contiguous cpu cuda
    data detach diag diagonal double dsplit einsum expand expand_as flatten flip fliplr flipud float from_numpy get half
    hsplit imag indices int items keys long meshgrid moveaxis movedim narrow numpy permute positive ravel real reshape
    reshape_as rot90 select split squeeze swapaxes swapdims t tensor_split to to_dense transpose type type_as unbind
    unflatten unfold unsqueeze values view view_as vsplit
    """
)
"""What may give a part or a view of what it is given, not a copy."""

METHODS = words(
    """
    abs acos acosh add addbmm addcdiv addcmul addmm addmv addr all allclose amax amin aminmax any argmax argmin argsort
    argwhere asin asinh atan atan2 atanh baddbmm bincount bmm bool bucketize cdf ceil cholesky chunk clamp clamp_max
    clamp_min clip clone contiguous cos cosh count_nonzero cov cpu cross cuda cummax cummin cumprod cumsum det detach
    diag diag_embed diagonal diff dim dist div dot double eq equal erf erfc erfinv exp expand expand_as expm1 flatten
    flip fliplr flipud float floor fmax fmin fmod frac gather ge ger get_device gt half histc hypot index_add index_copy
    index_fill index_select inner int inverse isclose isfinite isin isinf isnan item kron kthvalue le lerp lgamma log
    log10 log1p log2 log_prob log_softmax logaddexp logcumsumexp logdet logical_and logical_not logical_or logical_xor
    logit logsumexp long lt masked_fill masked_scatter masked_select matmul matrix_exp matrix_power max maximum mean
    median min minimum mm mode moveaxis movedim mul mv nan_to_num nanmean nanmedian nanquantile nansum narrow ne neg
    new_full new_ones new_tensor new_zeros nonzero norm numel outer permute pinverse pow prod qr quantile ravel
    reciprocal relu remainder renorm repeat repeat_interleave reshape roll rot90 round rsqrt scatter scatter_add select
    sigmoid sign sin sinh size slogdet softmax split sqrt square squeeze std sub sum svd swapaxes swapdims t take
    take_along_dim tan tanh tensor_split tile tolist topk trace transpose tril triu trunc type_as unbind unflatten
    unfold unique unique_consecutive unsqueeze var vdot view view_as where xlogy to astype copy numpy
    to_sparse to_sparse_csr to_dense coalesce indices values
    """
)
"""Of tensors and arrays, and of distributions (`log_prob`, `cdf`). `.sort()` is not: a list sorts itself."""

_TORCH = METHODS | words(
    """
    arange as_tensor atleast_1d atleast_2d atleast_3d bartlett_window blackman_window block_diag broadcast_to
    cartesian_prod cat cdist chain_matmul cholesky_inverse cholesky_solve column_stack combinations complex concat
    concatenate corrcoef deg2rad device dstack einsum eye finfo from_numpy full full_like gradient hamming_window
    hann_window heaviside hsplit hstack iinfo is_floating_point is_tensor kaiser_window linspace logspace lu_solve
    meshgrid movedim multiply nanmean ones ones_like orgqr polar rad2deg row_stack searchsorted sort stack subtract
    tensor tensordot trapezoid trapz tril_indices triangular_solve triu_indices vander vsplit vstack zeros zeros_like
    sparse_coo_tensor sparse_csr_tensor
    """
)
_FUNCTIONAL = words(
    """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool1d adaptive_max_pool2d affine_grid avg_pool1d avg_pool2d
    avg_pool3d bilinear binary_cross_entropy binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy elu fold gaussian_nll_loss
    gelu glu grid_sample group_norm hardsigmoid hardswish hardtanh hinge_embedding_loss huber_loss interpolate kl_div
    l1_loss layer_norm leaky_relu linear local_response_norm log_softmax logsigmoid margin_ranking_loss max_pool1d
    max_pool2d max_pool3d mish mse_loss nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle
    pixel_unshuffle poisson_nll_loss relu relu6 rms_norm selu sigmoid silu smooth_l1_loss soft_margin_loss softmax
    softmin softplus softsign tanh tanhshrink threshold triplet_margin_loss unfold upsample
    """
)
_NUMPY = METHODS | words(
    """
    arange arccos arcsin arctan arctan2 array array_equal asarray atleast_1d atleast_2d average blackman bartlett
    broadcast_to cbrt column_stack concatenate convolve corrcoef deg2rad delete digitize divide ediff1d einsum eye
    float32 float64 full full_like gradient hamming hanning histogram histogram2d histogramdd hstack indices insert
    int32 int64 interp intersect1d isclose isin kaiser kron linspace logspace mod multiply nanargmax nanargmin nanmax
    nanmin nanpercentile nanstd nanvar nan_to_num ones ones_like outer pad percentile piecewise polyfit polyval power
    ptp rad2deg searchsorted select setdiff1d sinc sort stack std subtract tensordot trapezoid trapz tri tril_indices
    triu_indices union1d unwrap vander vstack zeros zeros_like
    """
)
_ROOMS = re.compile(
    r"torch\.(linalg|fft|special|distributions)\.(\w+)$|numpy\.(linalg|fft)\.(\w+)$|math\.\w+$|"
    r"scipy\.(linalg|special|spatial\.distance)\.\w+$"
)
BUILTINS = words("abs bool float int len max min range round")
"""Of the interpreter; not those that use up what they go over."""

MODULES = words(
    """
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool1d AdaptiveMaxPool2d AvgPool1d AvgPool2d AvgPool3d
    BCEWithLogitsLoss Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineSimilarity
    CrossEntropyLoss ELU Embedding Flatten GELU GLU GRU GroupNorm Hardsigmoid Hardswish Hardtanh HuberLoss Identity
    KLDivLoss L1Loss LSTM LayerNorm LeakyReLU Linear LogSigmoid LogSoftmax MSELoss MaxPool1d MaxPool2d MaxPool3d Mish
    NLLLoss PReLU PixelShuffle RMSNorm RNN ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReplicationPad2d SELU SiLU Sigmoid
    SmoothL1Loss Softmax Softplus Softsign Tanh Unflatten Unfold Upsample ZeroPad2d
    """
)
"""Of torch: they keep nothing from one call to the next, and do the same in training and evaluation."""

SHAPING = words("Flatten Identity PixelShuffle Unflatten")
"""Of these, those that may give a view of what they are given."""
HOLDERS = words("ModuleList Sequential")
MOVED = words("cpu cuda double eval float half requires_grad_ to train")
"""Methods that give the module back whose methods they are."""


def is_pure(full_name: str) -> bool:
    """Whether a library's function of that full name (`torch.linalg.inv`) is one of them; random ones are not."""
    if _ROOMS.fullmatch(full_name):
        return True
    root, _, rest = full_name.partition(".")
    if full_name.startswith("torch.nn.functional."):
        return full_name.rpartition(".")[2] in _FUNCTIONAL
    return (root == "torch" and rest in _TORCH) or (root == "numpy" and rest in _NUMPY)
