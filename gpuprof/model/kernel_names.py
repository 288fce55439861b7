"""What a kernel's name tells: what it does, and in which number format."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache


class KernelCategory(IntEnum):
    """What a kernel does.

    COPY_LIKE moves or casts data without arithmetic (a kernel, not a copy). OPTIMIZER holds every multi-tensor kernel,
    gradient clipping included: their names do not tell them apart.
    """

    OTHER = 0
    GEMM = 1
    CONVOLUTION = 2
    ATTENTION = 3
    NORMALISATION = 4
    ELEMENTWISE = 5
    REDUCTION = 6
    OPTIMIZER = 7
    COLLECTIVE = 8
    COPY_LIKE = 9


PRODUCT_CATEGORIES = (KernelCategory.GEMM, KernelCategory.CONVOLUTION, KernelCategory.ATTENTION)


class Precision(IntEnum):
    """Number format of a matrix product. FP32 runs without tensor cores; REDUCED is fp16, bf16, fp8 or int8."""

    UNKNOWN = 0
    FP32 = 1
    TF32 = 2
    REDUCED = 3
    FP64 = 4


_CATEGORIES = tuple(
    (category, re.compile(pattern, re.IGNORECASE))
    for category, pattern in (
        (KernelCategory.COLLECTIVE, r"nccl|rccl|msccl|cross_device_reduce|all_?reduce|allgather|reduce_?scatter"),
        (KernelCategory.OPTIMIZER, r"multi_tensor|adam|rowwise_adagrad|fused_sgd|lamb_|rmsprop|adagrad|adadelta"),
        (KernelCategory.ATTENTION, r"flash|fmha|attention|attn|sdpa"),
        (
            KernelCategory.NORMALISATION,
            r"(batch|layer|rms|group|instance|l2)_?norm(?!alize_)|\bbn_(fw|bw|inf)|RowwiseMoments|GammaBeta"
            r"|ComputeInternalGradients|norm_(fwd|bwd)",
        ),
        (
            KernelCategory.COPY_LIKE,
            r"nchwToNhwc|nhwcToNchw|NhwcToNhwc|\bconvertTensor|transpose|permute|copy_kernel|BatchedCopy|CatArray"
            r"|SubTensorOpWithCast|im2col|col2im",
        ),
        (
            KernelCategory.CONVOLUTION,
            r"conv(?!ert)|s?h?cudnn_(?!infer|train)\d*|cudnn_(fp|bf)16|[fdw]prop_|fprop|dgrad|wgrad|winograd|winconv"
            r"|fft2d|flip_filter|igemm_(fwd|bwd|wrw)",
        ),
        (
            KernelCategory.GEMM,
            r"(?<!fb)gemm|gemv|Cijk_|nvjet|matmul|split_?K|cublasLt|epilogue::impl|cutlass|triton_(tem|mm)|_mm_kernel|tinygemm"
            r"|wvSplitK|gett_",
        ),
        (
            KernelCategory.REDUCTION,
            r"reduce|softmax|cumsum|scan|argm(ax|in)|topk|sort|nll_loss|triton_(red|per)_|dot_kernel|asum|nrm2",
        ),
        (
            KernelCategory.ELEMENTWISE,
            r"elementwise|pointwise|triton_(poi|fused)|dropout|gelu|relu|silu|act_and_mul|FillFunctor|foreach"
            r"|op_?tensor|addTensor|scalePackedTensor|OpTensor",
        ),
    )
)

_HELPERS = re.compile(r"split_?K_?reduce|epilogue::impl|transpose|im2col|flip_filter", re.IGNORECASE)
_PRECISIONS = tuple(
    (precision, re.compile(pattern, re.IGNORECASE))
    for precision, pattern in (
        (Precision.FP64, r"dgemm|d884|dgemv|\bdouble\b|f64f64|_fp64|^Cijk_[A-Z]+_[A-Z]+_D_?B_"),
        (Precision.TF32, r"tf32|xf32|^Cijk_[A-Z]+_[A-Z]+_S_?M?X"),
        (
            Precision.REDUCED,
            r"bf16|fp16|f16|half|bfloat|fp8|e4m3|e5m2|[hi](884|1688|16816|8816)|s884|hgemm|hcudnn|int8|imma"
            r"|^Cijk_[A-Z]+_[A-Z]+_([HB]|F8|I8)|nvjet_(sm\d+_)?[htq]",
        ),
        (Precision.TF32, r"s1688|nvjet_(sm\d+_)?s(?!m\d)"),
        (
            Precision.FP32,
            r"sgemm|scudnn|simt|gcgemm|cgemm|ffma|\bfloat\b|f32f32|fp32|_f32|^Cijk_[A-Z]+_[A-Z]+_S_?(S_)?B_",
        ),
    )
)

# the element type: the first type among a template's arguments, or what the innermost lambda takes
_DOUBLE = re.compile(r"(?<!optional)<(?:-?\d+\w*, |true, |false, )*(?:c10::complex<)?double\b|\{lambda\(double\b")
_C_PLUS_PLUS = re.compile(r"[<(]")
_WRAPPERS = re.compile(r"elementwise_kernel|^reduce_kernel|^Kernel2?$|multi_tensor_apply|^DeviceReduce")
_FUNCTORS = re.compile(r"\w+_kernel_cuda\b|\w*[Ff]unctor\w*|\w+_functor\b|cutlass_\w+|\w+Op(?=<)")
_GENERAL = frozenset(("BinaryFunctor", "AUnaryFunctor", "BUnaryFunctor", "ReduceOp"))
_TILE = re.compile(r"_(MT\d+x\d+x\d+)_")
_LONGEST, _BEGIN = 60, 26
_ALIGNMENT = re.compile(r"align[a-c]?(\d+)(?!\d)")


@lru_cache(maxsize=65_536)
def category_of(name: str) -> KernelCategory:
    """What the kernel of that name does; OTHER where the name does not say."""
    for category, pattern in _CATEGORIES:
        if pattern.search(name):
            return category
    return KernelCategory.OTHER


@lru_cache(maxsize=65_536)
def precision_of(name: str) -> Precision:
    """Number format in which a matrix product of that name multiplies; UNKNOWN where the name does not say.

    Only meaningful for GEMM, convolution and attention kernels. The conventions read here are those of cuBLAS, cuDNN
    and CUTLASS (`sgemm`, `s1688` TF32, `s16816…bf16`, `h884`), of Tensile (`Cijk_…_SB_`) and of template arguments.
    Fused attention in fp32 may or may not use tensor cores: its name does not say, so it is UNKNOWN.
    """
    if _HELPERS.search(name):
        return Precision.UNKNOWN
    for precision, pattern in _PRECISIONS:
        if pattern.search(name):
            fused = precision is Precision.FP32 and category_of(name) is KernelCategory.ATTENTION
            return Precision.UNKNOWN if fused else precision
    return Precision.UNKNOWN


@lru_cache(maxsize=65_536)
def reads_fp32(name: str) -> bool:
    """Whether the operands of a product or of fused attention are fp32, as far as its name tells: it may multiply them
    on tensor cores, as TF32."""
    if _HELPERS.search(name):
        return False
    precision = next((precision for precision, pattern in _PRECISIONS if pattern.search(name)), Precision.UNKNOWN)
    return precision in (Precision.FP32, Precision.TF32)


@lru_cache(maxsize=65_536)
def works_in_double(name: str) -> bool:
    """Whether the kernel's elements are fp64, as far as its name tells; a `double` parameter alone does not count."""
    if _DOUBLE.search(name):
        return True
    return category_of(name) is KernelCategory.GEMM and precision_of(name) is Precision.FP64


@lru_cache(maxsize=65_536)
def alignment_of(name: str) -> int | None:
    """How many elements a CUTLASS kernel (cuBLAS and cuDNN use them) reads at once, by its name (`…_align8`); the
    smallest where it names several. None where the name does not say."""
    found = [int(number) for number in _ALIGNMENT.findall(name)]
    return min(found, default=None)


def short_name(name: str) -> str:
    """A C++ function's name without `void` and its list of arguments; any other name as it is."""
    if not name.endswith(")"):
        return name
    depth = 0
    for at in range(len(name) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if depth == 0:
            return name if name[at - 1] == " " else name[:at].removeprefix("void ")
    return name


def function_name(name: str) -> str:
    """What a sentence can hold of a kernel's name, 60 characters at most: its function without namespaces, arguments
    and template parameters, with the functor that torch's general kernels are made of: `vectorized_elementwise_kernel
    (CUDAFunctor_add)`. Of hipBLASLt's products it keeps the start and the tile. Operators keep their
    names, Python functions lose folders.
    """
    short = short_name(name)
    if _C_PLUS_PLUS.search(short) and ": " not in short and ".py(" not in short:
        head, _, rest = re.split(r"([<(])", short.replace("(anonymous namespace)::", "") + "<", maxsplit=1)
        function = head.rsplit("::", 1)[-1].strip()
        made_of = next((each for each in _FUNCTORS.findall(rest) if each not in _GENERAL), "")
        if function:
            short = f"{function} ({made_of})" if made_of and _WRAPPERS.search(function) else function
    while len(short) > _LONGEST and ".py(" in short and "/" in short.partition(".py(")[0]:
        short = short.partition("/")[2]
    if len(short) <= _LONGEST:
        return short
    tile = _TILE.search(short)
    return f"{short[:_BEGIN]}…{tile[1]}…" if tile else f"{short[: _LONGEST - 1]}…"
