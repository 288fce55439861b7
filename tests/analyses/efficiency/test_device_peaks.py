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
