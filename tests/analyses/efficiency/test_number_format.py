"""Number formats by type and kernel."""

from __future__ import annotations

import pytest

from gpuprof.analyses.efficiency.number_format import NumberFormat, device_format, host_format
from gpuprof.model.kernel_names import Precision


@pytest.mark.parametrize(
    ("element_type", "precision", "expected"),
    [
        ("float", Precision.TF32, NumberFormat.TF32),
        ("float", Precision.FP32, NumberFormat.FP32),
        ("float", Precision.UNKNOWN, None),
        ("float", Precision.REDUCED, None),
        ("c10::BFloat16", Precision.FP32, NumberFormat.BF16),
        ("c10::Half", Precision.UNKNOWN, NumberFormat.FP16),
        ("double", Precision.UNKNOWN, NumberFormat.FP64),
        ("c10::Float8_e4m3fn", Precision.REDUCED, NumberFormat.FP8),
        ("", Precision.TF32, None),
    ],
)
def test_on_a_device(element_type: str, precision: Precision, expected: NumberFormat | None) -> None:
    assert device_format(element_type, precision) is expected


def test_on_the_host_the_type_says_it() -> None:
    assert (host_format("float"), host_format("long int")) == (NumberFormat.FP32, None)
