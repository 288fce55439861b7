from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.errors import UsageError


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"steps": 0}, "--steps 0"),
        ({"skip": -1}, "--skip -1"),
        ({"max_seconds": 0.0}, "--max-seconds 0"),
        ({"max_seconds": math.inf}, "--max-seconds inf"),
        ({"max_seconds": math.nan}, "--max-seconds nan"),
        ({"nvml_hz": 0.0}, "--nvml-hz 0"),
        ({"nvml_hz": 1000.0}, "--nvml-hz 1000"),
        ({"nvml_hz": math.nan}, "--nvml-hz nan"),
    ],
)
def test_senseless_values_are_usage_errors(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        CaptureOptions(**options)
    assert "\n" not in str(raised.value)


def test_defaults_are_told_as_they_work() -> None:
    told = CaptureOptions(folder=Path("runs")).to_dict()
    assert (told["steps"], told["skip"], told["max_seconds"], told["folder"]) == (20, 2, 60.0, "runs")
    assert set(told) == set(CaptureOptions.__struct_fields__)
    assert msgspec.json.decode(msgspec.json.encode(told)) == told


def test_a_chosen_number_of_steps_is_not_stretched() -> None:
    assert CaptureOptions().least_seconds > 0
    assert CaptureOptions(steps=20).least_seconds == 0
