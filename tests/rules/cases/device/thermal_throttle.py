"""Forty readings under load, some of them with NVML's thermal reason."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

THERMAL, POWER = 0x20, 0x4

EXPECTED = Expected(
    Severity.MEDIUM,
    "Heat slows the device down in 30 % of the readings under load",
    {"throttled_share": 0.3, "readings_under_load": 40, "sm_clock_throttled_mhz": 1200, "temperature_max_c": 88},
    saving_share=0.06,
    change="cooling",
)


def _run(hot: int, readings: int = 40) -> Trace:
    builder = TraceBuilder().kernel("gemm", 0, 100 * readings, launch_at_us=0)
    for tick in range(readings):
        throttled = tick < hot
        builder.sample(
            100 * tick,
            utilisation_percent=97,
            clock_reasons=THERMAL if throttled else 0,
            temperature_c=88,
            sm_clock_mhz=1200 if throttled else 1500,
        )
    return builder.build()


def fires() -> Trace:
    return _run(12)


def stays_quiet() -> Trace:
    """A fifth of the readings."""
    return _run(8)


def abstains() -> Trace:
    return _run(5, readings=9)
