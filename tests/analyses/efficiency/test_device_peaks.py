"""The table of published peaks."""

from __future__ import annotations

import pytest

from gpuprof.analyses.efficiency.device_peaks import _AMD, _NVIDIA, peaks_of
from gpuprof.analyses.efficiency.number_format import NumberFormat
from gpuprof.model.device import Device

LISTED = (*_NVIDIA, *_AMD)


def test_no_name_is_listed_twice() -> None:
    names = [name for peaks in LISTED for name in peaks.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("peaks", LISTED, ids=lambda peaks: peaks.names[0])
def test_narrower_formats_are_not_slower(peaks) -> None:
    order = (NumberFormat.FP32, NumberFormat.TF32, NumberFormat.FP16, NumberFormat.FP8)
    known = [peaks.teraflops[each] for each in order if each in peaks.teraflops]
    assert known == sorted(known) and 1e11 < peaks.bandwidth_bytes_per_s < 1e13
    assert peaks.teraflops.get(NumberFormat.BF16) in (None, peaks.teraflops[NumberFormat.FP16])


def test_by_exact_name_only() -> None:
    found = peaks_of(Device(id=0, name="NVIDIA A100-SXM4-40GB"))
    assert found is not None and found.flops_per_s(NumberFormat.BF16) == 312e12
    assert found.flops_per_s(NumberFormat.FP8) is None and found.flops_per_s(None) is None
    for name in ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "AMD Instinct MI300X VF", "Test GPU", "", None):
        assert peaks_of(Device(id=0, name=name)) is None
    assert peaks_of(None) is None
