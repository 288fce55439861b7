"""Twenty steps of 100 ms, 40 of them idle for a host that does something else now and then; 100 W read ten times a
second."""

import msgspec

from gpuprof.model.context import Loader
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

FACTS = DeviceFacts(name="Test GPU", torch_index=0, power_source="instant")

EXPECTED = Expected(
    Severity.LOW,
    "Idle time takes 20 % of the energy: 2.00 J of 10.0 J a step",
    {"energy_j_per_step": 10, "idle_j_per_step": 2, "idle_least_j_per_step": 2, "power_readings": 20},
    change="waits for",
)


def run(
    idle_ms: float = 20,
    *,
    watts: float = 100,
    every_ms: float = 100,
    facts: DeviceFacts = FACTS,
    loaders: tuple[Loader, ...] = (),
) -> Trace:
    """The idle time is at the end of a step, in pieces of 0.5 ms between short kernels."""
    builder = TraceBuilder().context(sampling={"static": [msgspec.to_builtins(facts)]}, loaders=loaders)
    for at in range(0, 2_000_000, 100_000):
        builder.step(at, 100_000)
        if loaders:
            builder.data_wait(at, 10)
        busy = (100 - idle_ms) * 1000
        for piece in range(40):
            begin = at + piece * 2_500
            builder.operator("aten::mm", begin, 20)
            builder.kernel("gemm", begin, busy / 40, launch_at_us=begin)
    tick = 0.0
    while tick <= 2_100:
        builder.sample(tick * 1000, utilisation_percent=80, power_mw=int(watts * 1000))
        tick += every_ms
    return builder.build()


def fires() -> Trace:
    return run(20)


def stays_quiet() -> Trace:
    """19.5 % of the energy."""
    return run(19.5)


def abstains() -> Trace:
    return run(every_ms=400)
