"""What a kernel's name tells: what it does, and in which number format."""

from __future__ import annotations

from enum import IntEnum


class KernelCategory(IntEnum):
    """What a kernel does. COPY_LIKE: moves or casts data without arithmetic (a kernel, not a copy)."""

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


class Precision(IntEnum):
    """Number format of a matrix product. FP32 runs without tensor cores; REDUCED is fp16, bf16, fp8 or int8."""

    UNKNOWN = 0
    FP32 = 1
    TF32 = 2
    REDUCED = 3
    FP64 = 4
