from __future__ import annotations

import pytest

from gpuprof.capture.profiler.cupti import diagnose


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)", "ERR_NVGPUCTRPERM"),
        ("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)", "another profiler"),
        ("CUPTI initialization failed - CUDA profiler activities will be missing", "LD_LIBRARY_PATH"),
        ("All records Out-of-range", "impossible times"),
    ],
)
def test_known_messages(message: str, said: str) -> None:
    (note,) = diagnose([message, message], {"cpu_op": 10})
    assert said in note
    assert "\n" not in note


def test_launches_without_kernels() -> None:
    (note,) = diagnose([], {"cpu_op": 10, "cuda_runtime": 5})
    assert "no kernel data" in note
    assert diagnose([], {"cpu_op": 10, "cuda_runtime": 5, "kernel": 5}) == ()


def test_no_events_at_all() -> None:
    assert "no events" in diagnose([], {})[0]


def test_a_host_run_is_in_order() -> None:
    assert diagnose(["profiler_start"], {"cpu_op": 10}) == ()


def test_an_unknown_cupti_message_is_passed_on() -> None:
    assert diagnose(["CUPTI_ERROR_STRANGE"], {"cpu_op": 1}) == ("the profiler says: CUPTI_ERROR_STRANGE",)
