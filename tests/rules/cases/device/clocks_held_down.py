"""Forty readings under load with application clocks of 1,200 or 1,350 MHz, of 1,500."""

import msgspec

from gpuprof.model.readings import DeviceFacts
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

CLOCKS_SET = 0x2

EXPECTED = Expected(
    Severity.MEDIUM,
    "The clocks are held at 1200 MHz by application or locked clocks",
    {"held_share": 1.0, "sm_clock_held_mhz": 1200, "sm_clock_possible_mhz": 1500},
    saving_share=0.2,
    change="nvidia-smi -rac",
)


def _run(clock: int, readings: int = 40) -> Trace:
    builder = TraceBuilder().kernel("gemm", 0, 100 * readings, launch_at_us=0)
    for tick in range(readings):
        builder.sample(100 * tick, utilisation_percent=97, clock_reasons=CLOCKS_SET, sm_clock_mhz=clock)
    facts = DeviceFacts(name="Test GPU", sm_clock_max_mhz=1500)
    return builder.context(sampling={"static": [msgspec.to_builtins(facts)]}).build()


def fires() -> Trace:
    return _run(1200)


def stays_quiet() -> Trace:
    """A tenth below."""
    return _run(1350)


def abstains() -> Trace:
    return _run(1200, readings=9)
