"""What vendors publish for their devices: dense peaks by number format, and memory bandwidth.

Without sparsity, at boost clock; half-precision products add up in fp32, as torch has them do. Names are exactly what
the driver gives: a slice of a device (MIG) or a variant that is not listed has no peak here. A device of AMD that has
two dies is two devices to torch, each with half of the published figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gpuprof.analyses.efficiency.number_format import NumberFormat
from gpuprof.model.device import Device

_FP64, _FP32, _TF32 = NumberFormat.FP64, NumberFormat.FP32, NumberFormat.TF32
_BF16, _FP16, _FP8, _INT8 = NumberFormat.BF16, NumberFormat.FP16, NumberFormat.FP8, NumberFormat.INT8
_TERA = 1e12


@dataclass(frozen=True)
class DevicePeaks:
    """`teraflops`: 10¹² operations per second by number format. `bandwidth_bytes_per_s`: of the device's memory."""

    teraflops: Mapping[NumberFormat, float]
    bandwidth_bytes_per_s: float
    names: tuple[str, ...] = field(default=())

    def flops_per_s(self, number_format: NumberFormat | None) -> float | None:
        """None for a format that the data sheet does not name."""
        found = None if number_format is None else self.teraflops.get(number_format)
        return None if found is None else found * _TERA


def peaks_of(device: Device | None) -> DevicePeaks | None:
    """By the device's name; None where it is unknown or not listed."""
    return None if device is None or not device.name else _BY_NAME.get(device.name)


def _peaks(names: tuple[str, ...], gb_per_s: float, teraflops: Mapping[NumberFormat, float]) -> DevicePeaks:
    return DevicePeaks(MappingProxyType(dict(teraflops)), gb_per_s * 1e9, names)


def _tensor(fp64: float, fp32: float, tf32: float, half: float, **more: float) -> dict[NumberFormat, float]:
    """bf16 and fp16 are the same on these."""
    found = {_FP64: fp64, _FP32: fp32, _TF32: tf32, _BF16: half, _FP16: half}
    return found | {NumberFormat(name): value for name, value in more.items()}


_H100_SXM = _tensor(67, 67, 494.7, 989.4, fp8=1978.9, int8=1978.9)
_NVIDIA = (
    # NVIDIA Tesla P100 data sheet: fp16 is twice fp32
    _peaks(("Tesla P100-PCIE-16GB",), 732, {_FP64: 4.7, _FP32: 9.3, _FP16: 18.7}),
    _peaks(("Tesla P100-SXM2-16GB",), 732, {_FP64: 5.3, _FP32: 10.6, _FP16: 21.2}),
    # NVIDIA V100 data sheet
    _peaks(("Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB"), 900, {_FP64: 7.8, _FP32: 15.7, _FP16: 125}),
    _peaks(("Tesla V100-PCIE-16GB", "Tesla V100-PCIE-32GB"), 900, {_FP64: 7, _FP32: 14, _FP16: 112}),
    _peaks(("Tesla V100S-PCIE-32GB",), 1134, {_FP64: 8.2, _FP32: 16.4, _FP16: 130}),
    # NVIDIA T4 data sheet
    _peaks(("Tesla T4", "NVIDIA T4"), 320, {_FP32: 8.1, _FP16: 65, _INT8: 130}),
    # NVIDIA A100 data sheet; fp64 by tensor cores
    _peaks(("NVIDIA A100-SXM4-40GB", "NVIDIA A100-PCIE-40GB"), 1555, _tensor(19.5, 19.5, 156, 312, int8=624)),
    _peaks(("NVIDIA A100-SXM4-80GB",), 2039, _tensor(19.5, 19.5, 156, 312, int8=624)),
    _peaks(("NVIDIA A100 80GB PCIe",), 1935, _tensor(19.5, 19.5, 156, 312, int8=624)),
    # NVIDIA A30, A10, A40, RTX A6000 data sheets; NVIDIA A10G data sheet (AWS)
    _peaks(("NVIDIA A30",), 933, _tensor(10.3, 10.3, 82, 165, int8=330)),
    _peaks(("NVIDIA A10",), 600, {_FP32: 31.2, _TF32: 62.5, _BF16: 125, _FP16: 125, _INT8: 250}),
    _peaks(("NVIDIA A10G",), 600, {_FP32: 35, _TF32: 35, _BF16: 70, _FP16: 70, _INT8: 140}),
    _peaks(("NVIDIA A40",), 696, {_FP32: 37.4, _TF32: 74.8, _BF16: 149.7, _FP16: 149.7, _INT8: 299.3}),
    _peaks(("NVIDIA RTX A6000",), 768, {_FP32: 38.7, _TF32: 77.4, _BF16: 154.8, _FP16: 154.8, _INT8: 309.7}),
    # NVIDIA L4, L40, L40S data sheets, which name sparse peaks: halves of them
    _peaks(("NVIDIA L4",), 300, {_FP32: 30.3, _TF32: 60, _BF16: 121, _FP16: 121, _FP8: 242.5, _INT8: 242.5}),
    _peaks(("NVIDIA L40",), 864, {_FP32: 90.5, _TF32: 90.5, _BF16: 181, _FP16: 181, _FP8: 362, _INT8: 362}),
    _peaks(("NVIDIA L40S",), 864, {_FP32: 91.6, _TF32: 183, _BF16: 362, _FP16: 362, _FP8: 733, _INT8: 733}),
    # NVIDIA H100 and H200 data sheets, which name sparse peaks: halves of them; fp64 by tensor cores
    _peaks(("NVIDIA H100 80GB HBM3",), 3352, _H100_SXM),
    _peaks(("NVIDIA H100 PCIe",), 2039, _tensor(51, 51, 378, 756.5, fp8=1513, int8=1513)),
    _peaks(("NVIDIA H100 NVL",), 3938, _tensor(60, 60, 417.5, 835.5, fp8=1670.5, int8=1670.5)),
    _peaks(("NVIDIA H200",), 4800, _H100_SXM),
    _peaks(("NVIDIA H200 NVL",), 4800, _tensor(60, 60, 417.5, 835.5, fp8=1670.5, int8=1670.5)),
    # NVIDIA GH200 data sheet, 96 GB of HBM3
    _peaks(("NVIDIA GH200 480GB",), 4000, _H100_SXM),
    # NVIDIA HGX B200 data sheet, one of eight
    _peaks(("NVIDIA B200",), 7700, _tensor(37, 75, 1100, 2250, fp8=4500, int8=4500)),
    # NVIDIA Turing architecture whitepaper (reference boards)
    _peaks(("NVIDIA GeForce RTX 2080 Ti", "GeForce RTX 2080 Ti"), 616, {_FP32: 13.4, _FP16: 53.8}),
    # NVIDIA Ampere GA102 architecture whitepaper
    _peaks(("NVIDIA GeForce RTX 3080",), 760, {_FP32: 29.8, _TF32: 29.8, _BF16: 59.5, _FP16: 59.5, _INT8: 238}),
    _peaks(("NVIDIA GeForce RTX 3090",), 936, {_FP32: 35.6, _TF32: 35.6, _BF16: 71, _FP16: 71, _INT8: 284}),
    # NVIDIA Ada GPU architecture whitepaper
    _peaks(
        ("NVIDIA GeForce RTX 4080",),
        717,
        {_FP32: 48.7, _TF32: 48.7, _BF16: 97.5, _FP16: 97.5, _FP8: 194.9, _INT8: 389.9},
    ),
    _peaks(
        ("NVIDIA GeForce RTX 4090",),
        1008,
        {_FP32: 82.6, _TF32: 82.6, _BF16: 165.2, _FP16: 165.2, _FP8: 330.3, _INT8: 660.6},
    ),
    # NVIDIA RTX Blackwell GPU architecture whitepaper
    _peaks(
        ("NVIDIA GeForce RTX 5090",),
        1792,
        {_FP32: 104.8, _TF32: 104.8, _BF16: 209.5, _FP16: 209.5, _FP8: 419, _INT8: 838},
    ),
)
_AMD = (
    # AMD Instinct MI210, MI250, MI250X data sheets: fp32 and fp64 by matrix cores; MI250 has two dies
    _peaks(("AMD Instinct MI210",), 1638, {_FP64: 45.3, _FP32: 45.3, _BF16: 181, _FP16: 181, _INT8: 181}),
    _peaks(("AMD Instinct MI250",), 1638, {_FP64: 45.3, _FP32: 45.3, _BF16: 181, _FP16: 181, _INT8: 181}),
    _peaks(("AMD Instinct MI250X",), 1638, {_FP64: 47.9, _FP32: 47.9, _BF16: 191.5, _FP16: 191.5, _INT8: 191.5}),
    # AMD Instinct MI300X, MI300A, MI325X data sheets: fp32 and fp64 by matrix cores
    _peaks(("AMD Instinct MI300X",), 5300, _tensor(163.4, 163.4, 653.7, 1307.4, fp8=2614.9, int8=2614.9)),
    _peaks(("AMD Instinct MI300A",), 5300, _tensor(122.6, 122.6, 490.3, 980.6, fp8=1961.2, int8=1961.2)),
    _peaks(("AMD Instinct MI325X",), 6000, _tensor(163.4, 163.4, 653.7, 1307.4, fp8=2614.9, int8=2614.9)),
)
_BY_NAME: Mapping[str, DevicePeaks] = MappingProxyType(
    {name: peaks for peaks in (*_NVIDIA, *_AMD) for name in peaks.names}
)
