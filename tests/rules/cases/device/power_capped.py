"""Forty readings under load, some of them with NVML's power reason, at a limit below the board's own."""

import msgspec

from gpuprof.model.readings import DeviceFacts
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

POWER = 0x4
FACTS = DeviceFacts(name="Test GPU", power_limit_mw=250_000, power_limit_default_mw=400_000)

EXPECTED = Expected(
    Severity.MEDIUM,
    "The power limit of 250 W lowers the clocks in 50 % of the readings under load",
    {"capped_share": 0.5, "power_limit_default_w": 400, "sm_clock_capped_mhz": 1200},
    saving_share=0.1,
    change="400 W",
)


def _run(capped: int, readings: int = 40, facts: DeviceFacts = FACTS) -> Trace:
    builder = TraceBuilder().kernel("gemm", 0, 100 * readings, launch_at_us=0)
    for tick in range(readings):
        held = tick < capped
        builder.sample(
            100 * tick, utilisation_percent=97, clock_reasons=POWER * held, sm_clock_mhz=1200 if held else 1500
        )
    return builder.context(sampling={"static": [msgspec.to_builtins(facts)]}).build()


def fires() -> Trace:
    return _run(20)


def stays_quiet() -> Trace:
    """A fifth of the readings."""
    return _run(8)


def abstains() -> Trace:
    return _run(5, readings=9)
