"""The table of published peaks."""

from __future__ import annotations

import math

import pytest

from gpuprof.analyses.efficiency.device_peaks import _AMD, _NVIDIA, peaks_of
from gpuprof.analyses.efficiency.number_format import NumberFormat
from gpuprof.model.device import Device

LISTED = (*_NVIDIA, *_AMD)
# data sheets round; that of B200 gives two digits
_ROUNDED = 0.013
_COARSE = {"NVIDIA B200": 0.025}
# their vector units and matrix units do not go by powers of two
_OWN_FP32 = ("NVIDIA H100", "NVIDIA H200", "NVIDIA GH200", "NVIDIA B200")


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
    allowed = _COARSE.get(peaks.names[0], _ROUNDED)
    for number_format, value in peaks.teraflops.items():
        if number_format in (NumberFormat.FP32, NumberFormat.FP64) and peaks.names[0].startswith(_OWN_FP32):
            continue
        if number_format is NumberFormat.FP64 and value not in (peaks.teraflops[NumberFormat.FP32],):
            assert value == pytest.approx(peaks.teraflops[NumberFormat.FP32] / 2, rel=allowed)
            continue
        power = math.log2(half / value)
        assert half / value == pytest.approx(2 ** round(power), rel=allowed), number_format
        assert -2 <= round(power) <= 4, number_format


def test_by_exact_name_only() -> None:
    found = peaks_of(Device(id=0, name="NVIDIA A100-SXM4-40GB"))
    assert found is not None and found.flops_per_s(NumberFormat.BF16) == 312e12
    assert found.flops_per_s(NumberFormat.FP8) is None and found.flops_per_s(None) is None
    for name in ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "AMD Instinct MI300X VF", "Test GPU", "", None):
        assert peaks_of(Device(id=0, name=name)) is None
    assert peaks_of(None) is None
