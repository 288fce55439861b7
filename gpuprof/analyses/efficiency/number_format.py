"""In which number format a product multiplies."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from gpuprof.model.kernel_names import Precision


class NumberFormat(StrEnum):
    """What data sheets name a peak for. TF32: fp32 tensors, multiplied by tensor cores."""

    FP64 = "fp64"
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    INT8 = "int8"


_BY_TYPE: Mapping[str, NumberFormat] = MappingProxyType(
    {
        "double": NumberFormat.FP64,
        "float": NumberFormat.FP32,
        "c10::BFloat16": NumberFormat.BF16,
        "c10::Half": NumberFormat.FP16,
        "c10::Float8_e4m3fn": NumberFormat.FP8,
        "c10::Float8_e4m3fnuz": NumberFormat.FP8,
        "c10::Float8_e5m2": NumberFormat.FP8,
        "c10::Float8_e5m2fnuz": NumberFormat.FP8,
        "signed char": NumberFormat.INT8,
    }
    | {
        # as the close look names them
        "float64": NumberFormat.FP64,
        "float32": NumberFormat.FP32,
        "bfloat16": NumberFormat.BF16,
        "float16": NumberFormat.FP16,
        "float8_e4m3fn": NumberFormat.FP8,
        "float8_e4m3fnuz": NumberFormat.FP8,
        "float8_e5m2": NumberFormat.FP8,
        "float8_e5m2fnuz": NumberFormat.FP8,
        "int8": NumberFormat.INT8,
    }
)


def host_format(element_type: str) -> NumberFormat | None:
    """Of a product on the CPU, by torch's name of its elements' type; None where that is unknown."""
    return _BY_TYPE.get(element_type)


def device_format(element_type: str, precision: Precision) -> NumberFormat | None:
    """Of a product on a device, by type and by what its kernel's name says of the precision.

    fp32 tensors are multiplied in TF32 or in fp32, which only the kernel's name tells: None where it does not.
    """
    found = _BY_TYPE.get(element_type)
    if found is not NumberFormat.FP32:
        return found
    return {Precision.TF32: NumberFormat.TF32, Precision.FP32: NumberFormat.FP32}.get(precision)
