"""Ten steps of 100 ms on 4 cores; 16 workers compute, each by one thread, and wait three times as long for a core."""

import msgspec

from gpuprof.model.context import Environment, Loader
from gpuprof.model.loading import Loading
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.cases.loading.slow_transform import timed
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "16 workers want 16 cores at once, and there are 4",
    {"cores_wanted": 16, "worker_core_wait_per_cpu": 3, "main_core_wait_share": 0.25, "worker_cores_used": 3.5},
    lines=(3,),
    saving_share=0.25,
    basis="the main thread never waits for a core",
    change="`num_workers=3`",
)


def crowd(
    loading: Loading | None,
    *,
    main_wait: float = 25.0,
    wait_us: int = 1_000,
    workers: int = 16,
    cores: int | None = 4,
    used: float = 350.0,
) -> Trace:
    loader = Loader(workers=workers, line=3, dataset="Photos", samples=1000)
    builder = TraceBuilder().context(
        loaders=(loader,),
        loadings=() if loading is None else (loading,),
        environment=Environment(cores_allowed=cores),
    )
    for at in range(0, 1_000_000, 100_000):
        builder.step(at, 100_000).data_wait(at, wait_us, workers=workers).operator("aten::stack", at, wait_us)
        builder.kernel("gemm", at + wait_us + 6, 99_980 - wait_us, launch_at_us=at + wait_us)
    for at in range(0, 1_100_000, 100_000):
        builder.host_sample(at, cpu_percent=60, children_cpu_percent=used, main_core_wait_percent=main_wait)
    return builder.build()


def measured(threads: float = 1.0, wait_ratio: float = 3.0, **facts: float) -> Loading:
    """Of 400 ms, `threads` ran or waited for a core, `wait_ratio` times as long as they ran."""
    loading = timed(**facts)
    wanted = threads * (loading.sample_ns + loading.collate_ns)
    cpu_ns = int(wanted / (1 + wait_ratio))
    return msgspec.structs.replace(loading, cpu_ns=cpu_ns, core_wait_ns=int(wanted) - cpu_ns)


def fires() -> Trace:
    return crowd(measured())


def stays_quiet() -> Trace:
    """The main thread waits for a core 4.9 % of the steps' time, and nobody waits for data."""
    return crowd(measured(), main_wait=4.9)


def abstains() -> Trace:
    return crowd(timed())
