"""The table of published peaks."""

from __future__ import annotations

import math

import pytest

from gpuprof.analyses.efficiency.device_peaks import _AMD, _NVIDIA, peaks_of
from gpuprof.analyses.efficiency.number_format import NumberFormat
from gpuprof.model.device import Device

LISTED = (*_NVIDIA, *_AMD)
# their vector units and matrix units do not go by powers of two
_OWN_FP32 = ("NVIDIA H100", "NVIDIA H200", "NVIDIA GH200", "NVIDIA B200")
# the sheet of L40S gives 362 and 733 for fp16, that of B200 tf32 in petaflops with one digit
_COARSE = {"NVIDIA L40S": 9.0, "NVIDIA B200": 50.0}
# As the vendors describe the hardware: multiprocessors (or compute units), operations in fp32 of each per clock, boost
# clock in GHz; bits of the memory's bus, Gbit/s on each; how many times as fast as fp64 fp32 is, None without fp64.
_BUILT = {
    "Tesla P100-PCIE-16GB": (56, 128, 1.303, 4096, 1.43, 2),
    "Tesla P100-SXM2-16GB": (56, 128, 1.48, 4096, 1.43, 2),
    "Tesla V100-SXM2-16GB": (80, 128, 1.53, 4096, 1.755, 2),
    "Tesla V100-PCIE-16GB": (80, 128, 1.38, 4096, 1.755, 2),
    "Tesla V100S-PCIE-32GB": (80, 128, 1.597, 4096, 2.214, 2),
    "Tesla T4": (40, 128, 1.59, 256, 10, None),
    "NVIDIA A100-SXM4-40GB": (108, 128, 1.41, 5120, 2.43, 1),
    "NVIDIA A100-SXM4-80GB": (108, 128, 1.41, 5120, 3.186, 1),
    "NVIDIA A100 80GB PCIe": (108, 128, 1.41, 5120, 3.024, 1),
    "NVIDIA A30": (56, 128, 1.44, 3072, 2.43, 1),
    "NVIDIA A10": (72, 256, 1.695, 384, 12.5, None),
    "NVIDIA A10G": (80, 256, 1.71, 384, 12.5, None),
    "NVIDIA A40": (84, 256, 1.74, 384, 14.5, None),
    "NVIDIA RTX A6000": (84, 256, 1.8, 384, 16, None),
    "NVIDIA L4": (58, 256, 2.04, 192, 12.5, None),
    "NVIDIA L40": (142, 256, 2.49, 384, 18, None),
    "NVIDIA L40S": (142, 256, 2.52, 384, 18, None),
    "NVIDIA H100 80GB HBM3": (132, 256, 1.98, 5120, 5.238, 1),
    "NVIDIA H100 PCIe": (114, 256, 1.755, 5120, 3.186, 1),
    "NVIDIA H100 NVL": (132, 256, 1.785, 6144, 5.128, 1),
    "NVIDIA H200": (132, 256, 1.98, 6144, 6.25, 1),
    "NVIDIA H200 NVL": (132, 256, 1.785, 6144, 6.25, 1),
    "NVIDIA GH200 480GB": (132, 256, 1.98, 6144, 5.2, 1),
    "NVIDIA B200": (148, 256, 1.965, 8192, 7.5, 2),
    "NVIDIA GeForce RTX 2080 Ti": (68, 128, 1.545, 352, 14, None),
    "NVIDIA GeForce RTX 3080": (68, 256, 1.71, 320, 19, None),
    "NVIDIA GeForce RTX 3090": (82, 256, 1.695, 384, 19.5, None),
    "NVIDIA GeForce RTX 4080": (76, 256, 2.505, 256, 22.4, None),
    "NVIDIA GeForce RTX 4090": (128, 256, 2.52, 384, 21, None),
    "NVIDIA GeForce RTX 5090": (170, 256, 2.407, 512, 28, None),
    "AMD Instinct MI210": (104, 256, 1.7, 4096, 3.2, 1),
    "AMD Instinct MI250": (104, 256, 1.7, 4096, 3.2, 1),
    "AMD Instinct MI250X": (110, 256, 1.7, 4096, 3.2, 1),
    "AMD Instinct MI300X": (304, 256, 2.1, 8192, 5.2, 1),
    "AMD Instinct MI300A": (228, 256, 2.1, 8192, 5.2, 1),
    "AMD Instinct MI325X": (304, 256, 2.1, 8192, 6, 1),
}


def _last_digit(value: float) -> float:
    """What the last digit of a printed figure stands for: data sheets round, or cut off; .5 is half a sparse peak."""
    return 1.0 if not value % 1 else 0.5 if not value % 0.5 else 0.1


def test_no_name_is_listed_twice() -> None:
    names = [name for peaks in LISTED for name in peaks.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("peaks", LISTED, ids=lambda peaks: peaks.names[0])
def test_narrower_formats_are_not_slower(peaks) -> None:
    order = (NumberFormat.FP32, NumberFormat.TF32, NumberFormat.FP16, NumberFormat.FP8)
    known = [peaks.teraflops[each] for each in order if each in peaks.teraflops]
    assert known == sorted(known) and 1e11 < peaks.bandwidth_bytes_per_s < 1e13
    assert peaks.teraflops.get(NumberFormat.BF16) in (None, peaks.teraflops[NumberFormat.FP16])


@pytest.mark.parametrize("peaks", LISTED, ids=lambda peaks: peaks.names[0])
def test_formats_differ_by_powers_of_two(peaks) -> None:
    """As the hardware is built: half the bits, twice the operations, or as many, or a few times as many."""
    half = peaks.teraflops[NumberFormat.FP16]
    for number_format, value in peaks.teraflops.items():
        if number_format is NumberFormat.FP64:
            continue
        if number_format is NumberFormat.FP32 and peaks.names[0].startswith(_OWN_FP32):
            continue
        power = round(math.log2(half / value))
        exact = _COARSE.get(peaks.names[0], _last_digit(value) + _last_digit(half) / 2**power)
        assert half / 2**power == pytest.approx(value, abs=exact), number_format
        assert -2 <= power <= 4, number_format


def test_every_device_is_described_once_more() -> None:
    assert list(_BUILT) == [peaks.names[0] for peaks in LISTED]


@pytest.mark.parametrize("peaks", LISTED, ids=lambda peaks: peaks.names[0])
def test_arithmetic_is_what_the_units_can_do(peaks) -> None:
    units, per_clock, clock_ghz, _, _, wider = _BUILT[peaks.names[0]]
    single, double = peaks.teraflops[NumberFormat.FP32], peaks.teraflops.get(NumberFormat.FP64)
    assert single == pytest.approx(units * per_clock * clock_ghz / 1000, rel=0.01)
    if wider is None:
        assert double is None
    else:
        assert double == pytest.approx(single / wider, abs=_last_digit(double) + _last_digit(single) / wider)


@pytest.mark.parametrize("peaks", LISTED, ids=lambda peaks: peaks.names[0])
def test_bandwidth_is_what_the_bus_can_do(peaks) -> None:
    *_, bus_bits, gbit_per_s, _ = _BUILT[peaks.names[0]]
    assert peaks.bandwidth_bytes_per_s == pytest.approx(bus_bits * gbit_per_s / 8 * 1e9, rel=0.025)


def test_by_exact_name_only() -> None:
    found = peaks_of(Device(id=0, name="NVIDIA A100-SXM4-40GB"))
    assert found is not None and found.flops_per_s(NumberFormat.BF16) == 312e12
    assert found.flops_per_s(NumberFormat.FP8) is None and found.flops_per_s(None) is None
    for name in ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "AMD Instinct MI300X VF", "Test GPU", "", None):
        assert peaks_of(Device(id=0, name=name)) is None
    assert peaks_of(None) is None


# as the data sheets and whitepapers that are named beside the table print them, in 10¹² operations a second; of figures
# that count zeros as skipped the half
_PRINTED = {
    "Tesla P100-PCIE-16GB": "732 GB/s, fp64 4.7 fp32 9.3 fp16 18.7",
    "Tesla P100-SXM2-16GB": "732 GB/s, fp64 5.3 fp32 10.6 fp16 21.2",
    "Tesla V100-SXM2-16GB": "900 GB/s, fp64 7.8 fp32 15.7 fp16 125",
    "Tesla V100-PCIE-16GB": "900 GB/s, fp64 7 fp32 14 fp16 112",
    "Tesla V100S-PCIE-32GB": "1134 GB/s, fp64 8.2 fp32 16.4 fp16 130",
    "Tesla T4": "320 GB/s, fp32 8.1 fp16 65 int8 130",
    "NVIDIA A100-SXM4-40GB": "1555 GB/s, fp64 19.5 fp32 19.5 tf32 156 bf16 312 fp16 312 int8 624",
    "NVIDIA A100-SXM4-80GB": "2039 GB/s, fp64 19.5 fp32 19.5 tf32 156 bf16 312 fp16 312 int8 624",
    "NVIDIA A100 80GB PCIe": "1935 GB/s, fp64 19.5 fp32 19.5 tf32 156 bf16 312 fp16 312 int8 624",
    "NVIDIA A30": "933 GB/s, fp64 10.3 fp32 10.3 tf32 82 bf16 165 fp16 165 int8 330",
    "NVIDIA A10": "600 GB/s, fp32 31.2 tf32 62.5 bf16 125 fp16 125 int8 250",
    "NVIDIA A10G": "600 GB/s, fp32 35 tf32 35 bf16 70 fp16 70 int8 140",
    "NVIDIA A40": "696 GB/s, fp32 37.4 tf32 74.8 bf16 149.7 fp16 149.7 int8 299.3",
    "NVIDIA RTX A6000": "768 GB/s, fp32 38.7 tf32 77.4 bf16 154.8 fp16 154.8 int8 309.7",
    "NVIDIA L4": "300 GB/s, fp32 30.3 tf32 60 bf16 121 fp16 121 fp8 242.5 int8 242.5",
    "NVIDIA L40": "864 GB/s, fp32 90.5 tf32 90.5 bf16 181 fp16 181 fp8 362 int8 362",
    "NVIDIA L40S": "864 GB/s, fp32 91.6 tf32 183 bf16 362 fp16 362 fp8 733 int8 733",
    "NVIDIA H100 80GB HBM3": "3352 GB/s, fp64 67 fp32 67 tf32 494.7 bf16 989.4 fp16 989.4 fp8 1978.9 int8 1978.9",
    "NVIDIA H100 PCIe": "2039 GB/s, fp64 51 fp32 51 tf32 378 bf16 756.5 fp16 756.5 fp8 1513 int8 1513",
    "NVIDIA H100 NVL": "3938 GB/s, fp64 60 fp32 60 tf32 417.5 bf16 835.5 fp16 835.5 fp8 1670.5 int8 1670.5",
    "NVIDIA H200": "4800 GB/s, fp64 67 fp32 67 tf32 494.7 bf16 989.4 fp16 989.4 fp8 1978.9 int8 1978.9",
    "NVIDIA H200 NVL": "4800 GB/s, fp64 60 fp32 60 tf32 417.5 bf16 835.5 fp16 835.5 fp8 1670.5 int8 1670.5",
    "NVIDIA GH200 480GB": "4000 GB/s, fp64 67 fp32 67 tf32 494.7 bf16 989.4 fp16 989.4 fp8 1978.9 int8 1978.9",
    "NVIDIA B200": "7700 GB/s, fp64 37 fp32 75 tf32 1100 bf16 2250 fp16 2250 fp8 4500 int8 4500",
    "NVIDIA GeForce RTX 2080 Ti": "616 GB/s, fp32 13.4 fp16 53.8",
    "NVIDIA GeForce RTX 3080": "760 GB/s, fp32 29.8 tf32 29.8 bf16 59.5 fp16 59.5 int8 238",
    "NVIDIA GeForce RTX 3090": "936 GB/s, fp32 35.6 tf32 35.6 bf16 71 fp16 71 int8 284",
    "NVIDIA GeForce RTX 4080": "717 GB/s, fp32 48.7 tf32 48.7 bf16 97.5 fp16 97.5 fp8 194.9 int8 389.9",
    "NVIDIA GeForce RTX 4090": "1008 GB/s, fp32 82.6 tf32 82.6 bf16 165.2 fp16 165.2 fp8 330.3 int8 660.6",
    "NVIDIA GeForce RTX 5090": "1792 GB/s, fp32 104.8 tf32 104.8 bf16 209.5 fp16 209.5 fp8 419 int8 838",
    "AMD Instinct MI210": "1638 GB/s, fp64 45.3 fp32 45.3 bf16 181 fp16 181 int8 181",
    "AMD Instinct MI250": "1638 GB/s, fp64 45.3 fp32 45.3 bf16 181 fp16 181 int8 181",
    "AMD Instinct MI250X": "1638 GB/s, fp64 47.9 fp32 47.9 bf16 191.5 fp16 191.5 int8 191.5",
    "AMD Instinct MI300X": "5300 GB/s, fp64 163.4 fp32 163.4 tf32 653.7 bf16 1307.4 fp16 1307.4 fp8 2614.9 int8 2614.9",
    "AMD Instinct MI300A": "5300 GB/s, fp64 122.6 fp32 122.6 tf32 490.3 bf16 980.6 fp16 980.6 fp8 1961.2 int8 1961.2",
    "AMD Instinct MI325X": "6000 GB/s, fp64 163.4 fp32 163.4 tf32 653.7 bf16 1307.4 fp16 1307.4 fp8 2614.9 int8 2614.9",
}


@pytest.mark.parametrize("peaks", LISTED, ids=lambda peaks: peaks.names[0])
def test_every_figure_is_what_is_printed(peaks) -> None:
    figures = " ".join(f"{each.value} {value:g}" for each, value in peaks.teraflops.items())
    assert f"{peaks.bandwidth_bytes_per_s / 1e9:g} GB/s, {figures}" == _PRINTED[peaks.names[0]]
